import { afterEach, expect, test } from "vitest";
import { takePreloaded } from "./preloaded-answers.ts";

const session = { address: "", token: "one" };
const url = "/api/servers";

const ask = () => {
  const answer = Promise.resolve(Response.json({}));
  globalThis.preloadedAnswers = { session, startedMs: 1_000, answers: new Map([[url, answer]]) };
  return answer;
};

afterEach(() => {
  globalThis.preloadedAnswers = undefined;
});

test("a preloaded answer is for one taker", () => {
  const answer = ask();
  expect(takePreloaded("/api/overview", session, 2_000)).toBeNull();
  expect(takePreloaded(url, session, 2_000)).toBe(answer);
  expect(takePreloaded(url, session, 2_000)).toBeNull();
});

test("it is for the session that asked, and only while it is fresh", () => {
  for (const [other, nowMs] of [
    [{ address: "", token: "two" }, 2_000],
    [{ address: "https://other.example.com", token: "one" }, 2_000],
    [session, 17_000],
  ] as const) {
    void ask();
    expect(takePreloaded(url, other, nowMs)).toBeNull();
  }
});

test("there is nothing to take where nobody asked", () =>
  expect(takePreloaded(url, session, 0)).toBeNull());
