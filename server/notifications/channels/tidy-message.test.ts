import { expect, test } from "vitest";
import { tidyMessage } from "./tidy-message.ts";
import { awfulMessage, plainMessage } from "./testing/messages.ts";

test("leaves a plain message unchanged", () => {
  expect(tidyMessage(plainMessage)).toEqual(plainMessage);
});

test("limits every text of an excessive message, and keeps the most important facts", () => {
  const { title, facts, reason } = tidyMessage(awfulMessage);
  expect(title.length).toBeLessThanOrEqual(256);
  expect(facts).toHaveLength(10);
  for (const [label, value] of facts) {
    expect(label.length).toBeLessThanOrEqual(60);
    expect(value.length).toBeLessThanOrEqual(300);
  }
  expect(reason?.length).toBeLessThanOrEqual(800);
});

test("leaves no text empty, because providers refuse a message with an empty text", () => {
  const empty = { ...plainMessage, title: "\0\n", facts: [["", " \n"]] as const, reason: "\n\t\n" };
  expect(tidyMessage(empty)).toMatchObject({
    title: "Notification",
    facts: [["–", "–"]],
    reason: null,
  });
});

test.each([
  ["https://a.example/b c", "https://a.example/b%20c"],
  ["javascript:alert(1)", null],
  ["/backups/12", null],
  [`https://a.example/${"x".repeat(600)}`, null],
])("replaces the link %s by %s", (link, expected) => {
  expect(tidyMessage({ ...plainMessage, link }).link).toBe(expected);
});
