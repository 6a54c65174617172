import { describe, expect, test } from "vitest";
import { watchSignals } from "./signals.ts";

function setUp({ isUnderNpm = false } = {}) {
  const handlers = new Map<string, () => void>();
  const done: string[] = [];
  const at = { ms: 5000, hasLostTerminal: false };
  watchSignals(
    {
      on: (signal, run) => void handlers.set(signal, run),
      isUnderNpm,
      hasLostTerminal: () => at.hasLostTerminal,
      nowMs: () => at.ms,
    },
    {
      stop: (signal) => done.push(`stop by ${signal}`),
      endAtOnce: () => done.push("end at once"),
      reload: () => done.push("reload"),
    },
  );
  const send = (signal: NodeJS.Signals, afterMs = 0) => {
    at.ms += afterMs;
    handlers.get(signal)?.();
  };
  return { send, done, at };
}

describe("A signal", () => {
  test.each(["SIGINT", "SIGTERM"] as const)("%s stops once", (signal) => {
    const { send, done } = setUp();
    send(signal);
    send("SIGTERM", 5000);
    expect(done).toEqual([`stop by ${signal}`]);
  });

  test("SIGINT during a stop exits at once", () => {
    for (const first of ["SIGINT", "SIGTERM"] as const) {
      const { send, done } = setUp();
      send(first);
      send("SIGINT", 200);
      expect(done).toEqual([`stop by ${first}`, "end at once"]);
    }
  });

  test("a SIGINT repeated by npm does not count", () => {
    const { send, done } = setUp({ isUnderNpm: true });
    send("SIGINT");
    send("SIGINT", 30);
    expect(done).toEqual(["stop by SIGINT"]);
    send("SIGINT", 1000);
    expect(done).toEqual(["stop by SIGINT", "end at once"]);
  });

  test("SIGHUP reloads, and stops when the terminal was closed", () => {
    const { send, done, at } = setUp();
    send("SIGHUP");
    send("SIGHUP");
    at.hasLostTerminal = true;
    send("SIGHUP");
    send("SIGHUP");
    expect(done).toEqual(["reload", "reload", "stop by SIGHUP"]);
  });
});
