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

test("a preloaded response can be taken once", () => {
  const response = ask();
  expect(takePreloaded("/api/overview", session, 2_000)).toBeNull();
  expect(takePreloaded(url, session, 2_000)).toBe(response);
  expect(takePreloaded(url, session, 2_000)).toBeNull();
});

test("a preloaded response is only for the session that requested it, while it is fresh", () => {
  for (const [other, nowMs] of [
    [{ address: "", token: "two" }, 2_000],
    [{ address: "https://other.example.com", token: "one" }, 2_000],
    [session, 17_000],
  ] as const) {
    void ask();
    expect(takePreloaded(url, other, nowMs)).toBeNull();
  }
});

test("there is none to take without a preload", () =>
  expect(takePreloaded(url, session, 0)).toBeNull());
