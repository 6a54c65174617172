// Creates a slot for tests, with a fake clock and a fake system.
import { createFakeClock } from "../../../testing/fake-clock.ts";
import type { Program } from "../../processes/process-manager.ts";
import type { Leader } from "../process-table.ts";
import type { RunRecord } from "../run-file.ts";
import { createSlot } from "../slot.ts";
import type { LaunchEvents } from "../slot-ports.ts";
import { programOf } from "./supervisor.ts";

export const seconds = 1000;

export function setUp(given: Partial<Program> = {}) {
  const clock = createFakeClock();
  let program = programOf(1, given);
  const history: string[] = [];
  const signals: string[] = [];
  const records: RunRecord[] = [];
  const groups = new Set<number>();
  let events: LaunchEvents | null = null;
  let swept: (() => void) | null = null;
  let starts = 0;
  const system = {
    clock,
    history,
    signals,
    records,
    /** Whether the next launches succeed. */
    launches: "succeed" as "succeed" | "fail",
    saves: true,
    /** Number of restarts that the slot reported. */
    restarts: 0,
    onChange: () => {},
    starts: () => starts,
    /** Ends the leader, and its group unless children stay behind. */
    exit(code: number | null, signal: string | null = null, childrenStay = false) {
      if (!childrenStay) groups.clear();
      system.leaderGone = childrenStay;
      events?.exited(code, signal);
    },
    endGroup: () => groups.clear(),
    /** Whether a process outside the group has the slot's mark. */
    hasOthers: false,
    leaderGone: false,
    /** Whether the program itself runs; false = the command that enters its folder is blocked. */
    begins: true,
    killings: new Array<string>(),
    deaths: new Array<string>(),
    endOthers() {
      system.hasOthers = false;
      swept?.();
    },
    failLaunch: () => events?.failed("it was not found"),
    addGroup: (pid: number) => groups.add(pid),
  };
  const slot = createSlot(1, () => program, {
    clock,
    boot: "boot",
    makeNonce: () => `nonce-${starts}`,
    save(record) {
      records.push(record);
      return system.saves ? null : "the disk is full";
    },
    launch(_nonce, on) {
      events = on;
      starts += 1;
      if (system.launches === "fail") return null;
      const leader: Leader = { pid: 100 + starts, startTime: String(starts) };
      groups.add(leader.pid);
      return leader;
    },
    isAlive: ({ pid }) => groups.has(pid) && !system.leaderGone,
    hasBegun: () => system.begins,
    hasGroup: ({ pid }) => groups.has(pid),
    signalLeader: (_leader, signal) => void signals.push(`leader ${signal}`),
    signalGroup: (_leader, signal) => void signals.push(signal),
    sweep(_leader, signal, onKill) {
      if (system.hasOthers) signals.push(`others ${signal}`);
      return {
        finish(done) {
          if (system.hasOthers) swept = done;
          else done();
        },
        kill() {
          if (!system.hasOthers) return;
          onKill();
          signals.push("others SIGKILL");
        },
        cancel: () => (swept = null),
      };
    },
    killing: (reason) => void system.killings.push(reason),
    wasKilled: (reason) => void system.deaths.push(reason),
    restarting: () => void (system.restarts += 1),
    changed() {
      history.push(slot.status().state);
      system.onChange();
    },
  });
  return {
    slot,
    system,
    clock,
    use(changed: Partial<Program>) {
      program = { ...program, ...changed };
    },
  };
}

/** Whether a promise is resolved, once pending microtasks have run. */
export const isDone = async (promise: Promise<void>) =>
  Promise.race([promise.then(() => true), new Promise((resolve) => setImmediate(resolve, false))]);
