// State of a worker in the process manager of its server.
import type { Program } from "../processes/process-manager.ts";
import type { RollingChange } from "../supervisor/rolling-change.ts";
import type { RemoteLog } from "./remote-log.ts";
import type { Slot } from "./slot.ts";

export type SupervisordWorker = {
  id: number;
  /** The newest settings, which a process gets at its next start. */
  program: Program;
  /** By number of the process, counted from 1. */
  slots: Map<number, Slot>;
  change: RollingChange | null;
  log: RemoteLog;
  /** Known content of the program file; null = there is none. */
  fileText: string | null;
  /** Whether an order came since the file was found changed, so that it is written again. */
  isFileDue: boolean;
  /** The problem with the program file, as a sentence; null = none. */
  fileNotice: string | null;
  /** Why processes are not replaced yet, as a sentence; null = no delay. */
  delayNotice: string | null;
  /** Why files of the worker could not be updated or deleted on the server, as a sentence; null = they could. */
  tidyingNotice: string | null;
  deployedAtMs: number;
  /** When the last order came; 0 = none since the start of the service. */
  orderedAtMs: number;
  /** The last reported reason why supervisord is unreachable; null = it responds; undefined = nothing was reported yet. */
  awayReason: string | null | undefined;
  /** The records as last written. */
  recordsText: string;
  /** Aborted when the removal is withdrawn; null = the worker is not being removed. */
  removing: AbortController | null;
  /** Called once a removed worker has left nothing on the server; null = it is not being removed. */
  removed: (() => void) | null;
};
