import { afterEach, expect, test } from "vitest";
import { takePreloaded } from "./preloaded-responses.ts";

const session = { address: "", token: "one" };
const url = "/api/servers";

const ask = () => {
  const response = Promise.resolve(Response.json({}));
  globalThis.preloadedResponses = {
    session,
    startedMs: 1_000,
    responses: new Map([[url, response]]),
  };
  return response;
};

afterEach(() => {
  globalThis.preloadedResponses = undefined;
});

test("a preloaded response is for one taker", () => {
  const response = ask();
  expect(takePreloaded("/api/overview", session, 2_000)).toBeNull();
  expect(takePreloaded(url, session, 2_000)).toBe(response);
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
