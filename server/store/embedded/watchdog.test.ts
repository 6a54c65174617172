import { once } from "node:events";
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { Clock } from "../../clock.ts";
import { systemClock } from "../../clock.ts";
import { createWatchdog } from "./watchdog.ts";
import type { Server } from "./server.ts";
import { copyOfDatabase, query, silent, startDatabase } from "./testing/instances.ts";
import { sendSignal } from "../../testing/signals.ts";

/** A clock that runs twenty times as fast, so that tests need not wait for delays. */
const quickClock: Clock = {
  now: () => systemClock.now() * 20,
  after: (delayMs, run) => systemClock.after(delayMs / 20, run),
};

/** Collects the diagnoses, and waits for them. */
function listen() {
  const changes = new EventEmitter();
  const reasons: (string | null)[] = [];
  const onDiagnosis = (reason: string | null) => {
    reasons.push(reason);
    changes.emit(reason === null ? "up" : "down");
  };
  return { reasons, onDiagnosis, next: (what: "up" | "down") => once(changes, what) };
}

test("restarts a killed database at the same address, with every stored row", async () => {
  const { reasons, onDiagnosis, next } = listen();
  const folder = await copyOfDatabase();
  const { connection, pid } = await startDatabase({ folder, onDiagnosis, clock: quickClock });
  await query(connection, "create table t as select 1 as one");
  for (const round of [1, 2]) {
    const killed = pid() ?? 0;
    const well = next("up");
    sendSignal(killed, "SIGKILL");
    await well;
    expect(pid()).not.toBe(killed);
    expect(await query(connection, "select * from t")).toEqual([{ one: 1 }]);
    expect(reasons).toHaveLength(round * 2);
  }
  expect(reasons[0]).toMatch(
    /^The database stopped unexpectedly \(signal SIGKILL\)\. See its log, /,
  );
});

test("a killed worker of the database affects nothing else, and is reported", async () => {
  const { reasons, onDiagnosis, next } = listen();
  const folder = await copyOfDatabase();
  const { connection } = await startDatabase({ folder, onDiagnosis, clock: quickClock });
  await query(connection, "create table t as select 1 as one");
  const [worker] = await query<{ pid: number }>(
    connection,
    "select pid from pg_stat_activity where backend_type = 'checkpointer'",
  );
  const well = next("up");
  sendSignal(worker?.pid, "SIGKILL");
  await well;
  expect(reasons[0]).toMatch(/terminated by signal 9/);
  expect(await query(connection, "select * from t")).toEqual([{ one: 1 }]);
});

test("stop also ends a database that is being restarted", async () => {
  const { reasons, onDiagnosis, next } = listen();
  const { pid, stop } = await startDatabase({ folder: await copyOfDatabase(), onDiagnosis });
  const down = next("down");
  sendSignal(pid(), "SIGKILL");
  await down;
  await stop();
  expect(pid()).toBeNull();
  expect(reasons).toHaveLength(1);
});

test("retries a restart more and more slowly, and after a stable period quickly again", async () => {
  let nowMs = 0;
  const delaysMs: number[] = [];
  const due: (() => void)[] = [];
  const clock: Clock = {
    now: () => nowMs,
    after: (delayMs, run) => {
      delaysMs.push(delayMs);
      due.push(run);
      return () => {};
    },
  };
  const server = () => {
    let end = (_how: string) => {};
    const ended = new Promise<string>((resolve) => (end = resolve));
    return { server: { pid: 1, ended, logStartBytes: 0 } satisfies Server, end: () => end("x") };
  };
  const first = server();
  const second = server();
  let failuresLeft = 7;
  const { onDiagnosis, next, reasons } = listen();
  const watchdog = createWatchdog({
    first: first.server,
    log: silent,
    clock,
    onDiagnosis,
    explain: async () => "it fell",
    restart: async () => {
      if (failuresLeft-- > 0) throw new Error("no");
      return second.server;
    },
    end: async () => {},
    stopping: new AbortController(),
  });
  let change = next("down");
  first.end();
  await change;
  for (let attempt = 1; attempt <= 7; attempt += 1) {
    change = next("down");
    due.shift()?.();
    await change;
  }
  const well = next("up");
  due.shift()?.();
  await well;
  expect(delaysMs).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  expect(reasons.at(-1)).toBeNull();
  nowMs += 60_000;
  change = next("down");
  second.end();
  await change;
  expect(delaysMs.at(-1)).toBe(1000);
  await watchdog.stop();
});
