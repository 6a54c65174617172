// What a slot needs of the system, so that its rules can be tried without one.
import type { Clock } from "../../clock.ts";
import type { Leader } from "./program.ts";
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
  /** Whether anybody is left in the leader's group, the leader itself included. */
  hasGroup(leader: Leader): boolean;
  signalGroup(leader: Leader, signal: NodeJS.Signals): void;
  /** Before a process that ended by itself, or never came up, is started once more. */
  restarting(): void;
  /** After every change of state. It may call back into the slot. */
  changed(): void;
};

/** What a slot finds of itself when the service comes back; of a group, the leader has ended. */
export type Found =
  | { kind: "process" | "group"; leader: Leader; nonce: string }
  | { kind: "nothing" };
