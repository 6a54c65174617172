// A worker as the process manager of a server remembers it.
import type { Program } from "../process-manager.ts";
import type { RollingChange } from "../supervisor/rolling-change.ts";
import type { RemoteLog } from "./remote-log.ts";
import type { Slot } from "./slot.ts";

export type SupervisordWorker = {
  id: number;
  /** The newest settings; they count from the next start of each process on. */
  program: Program;
  /** By the number of the process, from 1. */
  slots: Map<number, Slot>;
  change: RollingChange | null;
  log: RemoteLog;
  /** What is in its program file as far as is known; null = there is none. */
  fileText: string | null;
  /** An order was given since that was found. */
  isFileDue: boolean;
  /** What is wrong with that file: a sentence. */
  fileNotice: string | null;
  /** Why what runs is left as it is for now, although it is to be replaced: a sentence. */
  delayNotice: string | null;
  /** Why something of it is still on the server that is to be gone, or otherwise: a sentence. */
  tidyingNotice: string | null;
  deployedAtMs: number;
  /** When it was asked for something last; 0 = not since the start of the service. */
  orderedAtMs: number;
  /** Why it cannot be asked for, as it was last told; null = it can; undefined = nothing was told yet. */
  awayReason: string | null | undefined;
  /** As they were last written down. */
  recordsText: string;
  /** Aborted when its removal is withdrawn; null = it is not being removed. */
  removing: AbortController | null;
  /** It is to leave nothing behind; called once it has. */
  removed: (() => void) | null;
};
