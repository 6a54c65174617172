import { expect, test } from "vitest";
import { ApiError } from "../api/api-error.ts";
import {
  idTrouble,
  messageLooks,
  savedText,
  testRefusal,
  typeWord,
  withSeen,
} from "./channel-facts.ts";

const names = ["", "ops", "on-call", "managers"];
const nameOf = (id: number) => names[id] ?? `Channel ${id}`;

test.each<[[number, boolean][], string]>([
  [[[1, true]], "ops will be notified about shop."],
  [
    [
      [1, true],
      [2, true],
    ],
    "ops and on-call will be notified about shop.",
  ],
  [[[2, false]], "on-call will no longer be notified about shop."],
  [
    [
      [1, true],
      [2, false],
      [3, false],
    ],
    "ops will be notified about shop. on-call and managers will no longer be.",
  ],
])("describes a saved change in a sentence: %j", (pairs, text) => {
  expect(savedText(new Map(pairs), nameOf, "shop")).toBe(text);
});

test("does not claim that a failed message has reached its provider", () => {
  expect(messageLooks.failed.help).toMatch(/rejected .*, or no attempt succeeded/);
});

test("shows an unknown type of channel as the service names it", () => {
  expect([typeWord("discord"), typeWord("pager"), typeWord("toString")]).toEqual([
    "Discord",
    "pager",
    "toString",
  ]);
});

const message = {
  id: 1,
  channel_id: 1,
  event: "channel.test",
  title: "Test",
  count: 1,
  status: "pending",
  answer: null,
  attempts: 0,
  next_attempt_at: null,
  created_at: "2026-01-31T09:30:00.000000Z",
  ended_at: null,
};
const channel = { id: 1, name: "ops", type: "slack", meta: {}, trouble: null, last_message: null };

test.each([
  ["nothing was ever sent", {}, undefined],
  ["the last test has arrived", { last_message: { ...message, status: "delivered" } }, undefined],
  ["a test is being sent", { last_message: message }, "A test message is already being sent."],
  ["a test waits for a retry", { last_message: { ...message, status: "retrying" } }, undefined],
  [
    "another message is being sent",
    { last_message: { ...message, event: "backup.failed" } },
    undefined,
  ],
  ["the secret is missing, or was", { trouble: "OPS is not set." }, undefined],
])("whether a test can be sent: %s", (_, change, expected) => {
  expect(testRefusal({ ...channel, ...change })).toBe(expected);
});

test("finds the error of an id by its position in the request", () => {
  const error = new ApiError(422, "The selected channels.2 is invalid. (and 1 more error)", {
    fields: { "channels.0": ["Gone."], "channels.2": ["There is no channel 99."] },
  });
  expect(idTrouble(error, 99, [1, 2, 99])).toBe("Couldn't add channel 99: There is no channel 99.");
  expect(idTrouble(new ApiError(403, "Not allowed."), 99, [99])).toBe("Not allowed.");
});

test("keeps a channel that a site no longer uses visible, in its place", () => {
  const [one, two] = [1, 2].map((id) => ({ id, name: `channel ${id}`, type: "slack", meta: {} }));
  if (one === undefined || two === undefined) throw new Error("There are two.");
  const renamed = { ...two, name: "renamed" };
  const three = { ...one, id: 3 };
  const seen = [one, two];
  expect(withSeen(seen, [three, renamed])).toEqual([one, renamed, three]);
  expect(withSeen(seen, [two])).toBe(seen);
});
