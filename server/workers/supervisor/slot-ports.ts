// What a slot needs of the system, so that its rules can be tried without one.
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
  /** Null where it failed; neither event comes before this has returned. */
  launch(nonce: string, events: LaunchEvents): Leader | null;
  isAlive(leader: Leader): boolean;
  /** Whether the program itself runs by now; left out: it does. */
  hasBegun?(this: void, leader: Leader): boolean;
  /** Whether anybody is left in the leader's group, the leader itself included. */
  hasGroup(leader: Leader): boolean;
  signalLeader(leader: Leader, signal: NodeJS.Signals): void;
  signalGroup(leader: Leader, signal: NodeJS.Signals): void;
  /** Sees to the end of what bears the slot's mark and is not in the leader's group; begins with the signal. */
  sweep(leader: Leader | null, signal: NodeJS.Signals, onKill: () => void): SlotSweep;
  /** Once for a stop that had to end in a KILL, before it is sent. */
  killing(reason: string, pid: number | null): void;
  /** A process that was up was ended by a signal that nobody here had sent, and could not say so itself. */
  wasKilled(reason: string, pid: number): void;
  /** Whether the process that has just ended may have done a job; left out: it may. */
  hasWorked?(this: void): boolean;
  /** Before a process that ended by itself, or never came up, is started once more. */
  restarting(): void;
  /** After every change of state. It may call back into the slot. */
  changed(): void;
};

/** What a slot finds of itself when the service comes back; of a group, the leader has ended. */
export type Found =
  | { kind: "process" | "group"; leader: Leader; nonce: string }
  | { kind: "nothing" };

export type SlotSweep = {
  /** The leader's group is gone: calls back once nothing that bears the slot's mark lives. */
  finish(done: () => void): void;
  /** The time is up: what lives is killed, and what shows up after this as well. */
  kill(): void;
  cancel(): void;
};
