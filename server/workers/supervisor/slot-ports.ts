// What a slot needs from the system. Tests of its rules replace it.
import type { Clock } from "../../clock.ts";
import type { Leader } from "./process-table.ts";
import type { RunRecord } from "./run-file.ts";

export type LaunchEvents = {
  failed: (why: string) => void;
  exited: (code: number | null, signal: string | null) => void;
};

export type SlotPorts = {
  clock: Clock;
  boot: string;
  makeNonce(): string;
  /** @returns null, or why the record could not be written */
  save(record: RunRecord): string | null;
  /** @returns null where the start failed; events come only after this has returned */
  launch(nonce: string, events: LaunchEvents): Leader | null;
  isAlive(leader: Leader): boolean;
  /** Whether the program itself runs by now, and not a command that starts it; if not given, it does. */
  hasBegun?(this: void, leader: Leader): boolean;
  /** Whether a process is left in the leader's group, including the leader. */
  hasGroup(leader: Leader): boolean;
  signalLeader(leader: Leader, signal: NodeJS.Signals): void;
  signalGroup(leader: Leader, signal: NodeJS.Signals): void;
  /** Ends every process with the slot's mark that is not in the leader's group, beginning with the signal. */
  sweep(leader: Leader | null, signal: NodeJS.Signals, onKill: () => void): SlotSweep;
  /** Called once before a stop sends KILL. */
  killing(reason: string, pid: number | null): void;
  /** Called when a running process was ended by a signal that the service did not send, so that its log cannot say why. */
  wasKilled(reason: string, pid: number): void;
  /** Whether the process that has just ended may have run a job; if not given, it may. */
  hasWorked?(this: void): boolean;
  /** Called before a process is started again that ended by itself or did not come up. */
  restarting(): void;
  /** Called after every change of state. It may call back into the slot. */
  changed(): void;
};

/** What is left of a slot's processes when the service starts. `group` = the leader has ended, its group has not. */
export type Found =
  | { kind: "process" | "group"; leader: Leader; nonce: string }
  | { kind: "nothing" };

export type SlotSweep = {
  /** Called when the leader's group is gone. Calls `done` once no process has the slot's mark. */
  finish(done: () => void): void;
  /** Kills what is left, and what appears after this. */
  kill(): void;
  cancel(): void;
};
