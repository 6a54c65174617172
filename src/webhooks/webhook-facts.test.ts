import { expect, test } from "vitest";
import { deliveryStates, type DeliverySummary } from "../../contract/webhooks/delivery.ts";
import { makePoller } from "../api/poll.ts";
import {
  codeText,
  eventWord,
  hasCome,
  hostOf,
  nextAttempt,
  prettyBody,
  tookText,
  toMoving,
} from "./webhook-facts.ts";

const nowMs = Date.parse("2026-01-31T09:30:00Z");
const inSeconds = (seconds: number) =>
  new Date(nowMs + seconds * 1000).toISOString().replace("Z", "000Z");

const delivery = (change: Partial<DeliverySummary> = {}): DeliverySummary => ({
  id: 7,
  webhook_id: 3,
  event: "webhook.ping",
  status: "pending",
  status_reason: null,
  code: null,
  duration_ms: null,
  attempts: 0,
  next_attempt_at: null,
  created_at: inSeconds(0),
  ended_at: null,
  ...change,
});

/** Later than all requests of this and other tests. */
const lateMs = Number.MAX_SAFE_INTEGER;
const paceOf = (one: DeliverySummary) => makePoller(() => lateMs)([toMoving(one, nowMs)], false);

test("polls pending deliveries often, and neither those that wait for hours nor completed ones", () => {
  const paces = deliveryStates.map((status) =>
    paceOf(delivery({ status, next_attempt_at: inSeconds(7200) })),
  );
  expect(paces).toEqual([500, false, false, false]);
});

test("polls a waiting delivery often again shortly before its attempt, and until that has ended", () => {
  const retryingIn = (seconds: number) =>
    paceOf(delivery({ status: "retrying", attempts: 1, next_attempt_at: inSeconds(seconds) }));
  expect([11, 10, 0, -30].map(retryingIn)).toEqual([false, 500, 500, 500]);
});

test("shows a next attempt after an earlier one, but not for a pending delivery", () => {
  const next = inSeconds(300);
  expect(nextAttempt(delivery({ status: "retrying", next_attempt_at: next }))).toBe(next);
  expect(nextAttempt(delivery({ status: "pending", next_attempt_at: next }))).toBeNull();
  expect(nextAttempt(delivery({ status: "delivered" }))).toBeNull();
});

test("a delivery has no outcome before an attempt has ended", () => {
  const asked = delivery({ attempts: 2 });
  expect(hasCome(asked, asked)).toBe(false);
  expect(hasCome(asked, delivery({ status: "retrying", attempts: 2 }))).toBe(false);
  expect(hasCome(asked, delivery({ status: "retrying", attempts: 3 }))).toBe(true);
  expect(hasCome(asked, delivery({ status: "delivered", attempts: 3 }))).toBe(true);
  expect(hasCome(asked, delivery({ status: "failed", attempts: 2 }))).toBe(true);
});

test.each([
  [null, 0, "–"],
  [null, 1, "No response"],
  [500, 1, "500"],
])("a code of %s after %i attempts is shown as %s", (code, attempts, expected) => {
  expect(codeText({ code, attempts })).toBe(expected);
});

test.each([
  [null, "–"],
  [0, "0 ms"],
  [999, "999 ms"],
  [1_000, "1 s"],
  [15_049, "15 s"],
  [1_250, "1.3 s"],
])("a duration of %s ms is shown as %s", (ms, expected) => {
  expect(tookText(ms)).toBe(expected);
});

test("shows an unknown event as the service names it", () => {
  expect(eventWord("backup.failed")).toBe("Backup failed");
  expect(eventWord("site.hibernated")).toBe("site.hibernated");
  expect(eventWord("toString")).toBe("toString");
});

test("shows a URL by its host, and an invalid one as it is", () => {
  expect(hostOf("https://hooks.example.com:8443/a?b")).toBe("hooks.example.com:8443");
  expect(hostOf("nonsense")).toBe("nonsense");
});

test("formats a JSON body, and leaves any other one unchanged", () => {
  expect(prettyBody('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(prettyBody("<html>")).toBe("<html>");
  expect(prettyBody("")).toBe("");
});
