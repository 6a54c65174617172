// Reads the log of a worker whose processes a supervisord keeps up. supervisord writes and rotates one file for each process on
// its server; these are merged into one local log. Each read fetches what is new since the last one, so that an interrupted
// connection leaves no gap.
import { mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { WorkerLog } from "../../../contract/workers/worker.ts";
import type { Log } from "../../log.ts";
import { messageOf } from "../../loggable-error.ts";
import type { LogPosition } from "../processes/process-manager.ts";
import { keptLogs, logPath, readLogStart, sizeOf, writeLogStart } from "../supervisor/log-files.ts";
import { fullBytes, readLogOrProblem } from "../supervisor/log-reader.ts";
import { rotateLog } from "../supervisor/log-rotation.ts";
import { fileProblem } from "../supervisor/reasons.ts";
import { factsOf, freeBytesIn, readBytes } from "./files.ts";
import {
  lastOf,
  lengthOf,
  type LogState,
  parseLogState,
  type Piece,
  type Position,
  withPiece,
} from "./log-state.ts";
import type { Machine } from "./machine.ts";

const newline = 0x0a;
/** Most bytes to fetch at once from one process. */
const maxBytes = 512 * 1024;
/** A log that is further behind is not fetched from its beginning. */
const maxBehindBytes = 4 * 1024 * 1024;

const fullThere =
  "The disk of the server that the log is on is full, so new output is lost. Free space on it.";

export type ProcessLog = {
  path: string;
  /** Whether a process runs that may continue the last line. */
  isOpen: boolean;
};

type RemoteLogOptions = {
  machine: Machine;
  /** The worker's folder on the service's machine. */
  folder: string;
  /** Returns the log file of each process on the server. */
  files(): Promise<ProcessLog[]>;
  /** How far the log was fetched, shared by the instances that look after the server in turn. */
  shared?: SharedLogState | undefined;
  log: Log;
};

/** Thrown where fetched output could not be stored on the service's machine. */
class NotStored extends Error {
  override name = "NotStored";
}

/** @throws NotStored with the file system's error */
async function storing(run: () => void | Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw new NotStored(fileProblem(error), { cause: error });
  }
}

/** Stored before a client gets the output, so that any other instance continues at the same offsets. */
export type SharedLogState = {
  find(): Promise<string | null>;
  /** Rejects where this instance no longer looks after the server. */
  keep(text: string): Promise<void>;
};

export type RemoteLog = { read(from: LogPosition): Promise<WorkerLog> };

export function createRemoteLog(options: RemoteLogOptions): RemoteLog {
  const { machine, folder, files: logs, shared, log } = options;
  const statePath = join(folder, "log.positions.json");
  let state: LogState | null = null;
  let fetching: Promise<boolean> | null = null;
  let isRotationFailing = false;

  const endOfLog = () => readLogStart(folder) + sizeOf(logPath(folder));

  function loadOwn(): LogState {
    try {
      const read = parseLogState(readFileSync(statePath, "utf8"));
      const surplus = endOfLog() - read.end;
      if (surplus > 0)
        truncateSync(logPath(folder), Math.max(0, sizeOf(logPath(folder)) - surplus));
      return { ...read, end: endOfLog() };
    } catch {
      return { positions: {}, end: endOfLog(), pieces: [] };
    }
  }

  function save(next: LogState): void {
    writeFileSync(`${statePath}.new`, JSON.stringify(next), { mode: 0o600 });
    renameSync(`${statePath}.new`, statePath);
  }

  async function load(): Promise<LogState> {
    const own = loadOwn();
    const text = (await shared?.find()) ?? null;
    if (text === null) return own;
    const newest = parseLogState(text);
    if (newest.end !== own.end) await catchUp(own.end, newest);
    await storing(() => save(newest));
    return newest;
  }

  /** Completes the local log up to the offset that another instance has reached, from the files on the server. */
  async function catchUp(end: number, { end: newest, pieces }: LogState): Promise<void> {
    const isKnown = end < newest && newest - end <= lengthOf(pieces);
    const missing = isKnown ? lastOf(pieces, newest - end) : pieces;
    let found: Buffer[] = [];
    for (const one of missing) {
      const bytes = await bytesOf(one);
      // A lost piece would shift the offsets of the pieces before it, so these are dropped.
      if (bytes === null) found = [];
      else found.push(bytes);
    }
    const bytes = Buffer.concat(found);
    if (newest - bytes.length !== end) {
      for (let number = keptLogs; number >= 0; number -= 1)
        rmSync(logPath(folder, number), { force: true });
      writeLogStart(folder, newest - bytes.length);
    }
    await storing(() => appendFile(logPath(folder), bytes, { mode: 0o600 }));
  }

  /** @returns null where the bytes no longer exist */
  async function bytesOf({ path, inode, offset, length }: Piece): Promise<Buffer | null> {
    const files = withRotated(path);
    const index = async () =>
      (await factsOf(machine, files)).findIndex((one) => one?.inode === inode);
    for (let at = await index(); at !== -1;) {
      const bytes = await readBytes(machine, files[at] ?? path, offset, length);
      const now = await index();
      // If the file was rotated meanwhile, the bytes may come from another file.
      if (now === at) return bytes.length === length ? bytes : null;
      at = now;
    }
    return null;
  }

  /** Returns what follows a position in the log of one process, and the position after that. */
  async function follow({ path, isOpen }: ProcessLog, from: Position | undefined) {
    const files = withRotated(path);
    const facts = await factsOf(machine, files);
    // The oldest file with new content; older ones were read.
    const known = facts.findIndex((one) => one !== null && one.inode === from?.inode);
    const oldest = facts.findLastIndex((one) => one !== null);
    let index = known === -1 ? (from === undefined ? startIndex(facts) : oldest) : known;
    let offset = known === -1 || from === undefined ? 0 : from.offset;
    while (index > 0 && offset >= (facts[index]?.size ?? 0)) {
      index -= 1;
      offset = 0;
    }
    const [file, found] = [files[index], facts[index]];
    if (file === undefined || found === null || found === undefined) return null;
    // One that was cut begins anew.
    if (offset > found.size) offset = 0;
    if (from === undefined) offset = Math.max(offset, found.size - maxBehindBytes);
    const length = Math.min(found.size - offset, maxBytes);
    if (length <= 0) return null;
    const bytes = await readBytes(machine, file, offset, length);
    // If the file was rotated meanwhile, the bytes may come from another file.
    const [again] = await factsOf(machine, [file]);
    if (again?.inode !== found.inode)
      return { bytes: Buffer.alloc(0), position: from, isMore: true };
    const isToEnd = offset + length === found.size;
    const whole = isToEnd && (index > 0 || !isOpen) ? bytes : wholeLines(bytes);
    return {
      bytes: whole,
      position: { inode: found.inode, offset: offset + whole.length },
      isMore: index > 0 || length === maxBytes,
    };
  }

  async function take(
    from: LogState,
    path: string,
    bytes: Buffer,
    to: Position,
  ): Promise<LogState> {
    const size = sizeOf(logPath(folder));
    const { inode, offset } = to;
    const piece = { path, inode, offset: offset - bytes.length, length: bytes.length };
    const next = {
      positions: { ...from.positions, [path]: to },
      end: from.end + bytes.length,
      pieces: withPiece(from.pieces, piece),
    };
    try {
      await storing(() => appendFile(logPath(folder), bytes, { mode: 0o600 }));
      await shared?.keep(JSON.stringify(next));
      await storing(() => save(next));
    } catch (error) {
      // No client has seen the output, so it is fetched again, by another instance perhaps in another order.
      if (sizeOf(logPath(folder)) > size) truncateSync(logPath(folder), size);
      throw error;
    }
    return next;
  }

  /** Rotates the local log. A failure is logged once and does not fail the read; the next read retries. */
  async function rotate(): Promise<void> {
    try {
      await rotateLog(folder);
      isRotationFailing = false;
    } catch (error) {
      if (!isRotationFailing) log.warn({ err: error, folder }, "a worker's log was not rotated");
      isRotationFailing = true;
    }
  }

  /** @returns whether there is more */
  async function fetchOnce(): Promise<boolean> {
    await storing(() => void mkdirSync(folder, { recursive: true, mode: 0o700 }));
    state ??= await load();
    let isMore = false;
    for (const one of await logs()) {
      const { path } = one;
      for (let isTorn = true; isTorn;) {
        const found = await follow(one, state.positions[path]);
        if (found === null) break;
        isMore ||= found.isMore;
        if (found.bytes.length === 0 || found.position === undefined) break;
        if (sizeOf(join(folder, "log.start")) === 0) await storing(() => writeLogStart(folder, 0));
        state = await take(state, path, found.bytes, found.position);
        await rotate();
        // The rest of an incomplete line is in the next file, and must be stored before the output of another process.
        isTorn = found.isMore && found.bytes.at(-1) !== newline;
      }
    }
    return isMore;
  }

  async function isFullThere(): Promise<boolean> {
    const [first] = await logs();
    const freeBytes = first === undefined ? null : await freeBytesIn(machine, dirname(first.path));
    return freeBytes !== null && freeBytes < fullBytes;
  }

  const fetch = () =>
    (fetching ??= fetchOnce().finally(() => {
      fetching = null;
    }));

  return {
    async read(from) {
      try {
        for (let rounds = 0; rounds < 20 && (await fetch()); rounds += 1);
        const isFull = await isFullThere();
        const part = readLogOrProblem(folder, from);
        return isFull && part.problem === undefined ? { ...part, problem: fullThere } : part;
      } catch (error) {
        const problem =
          error instanceof NotStored
            ? `Couldn't store the log on Quarterdeck's machine, so this is what was read before: ${error.message}.`
            : `Couldn't read the log on the server, so this is what was read before: ${messageOf(error)}`;
        const known = readLogOrProblem(folder, from);
        // The offset that another instance has reached is unknown, so the client has to read again from its own offset.
        if (state === null && known.rotated && "offset" in from)
          return { text: "", start: from.offset, end: from.offset, rotated: false, problem };
        return { ...known, problem };
      }
    },
  };
}

/** Returns the log and its rotated files, the newest first. */
const withRotated = (path: string): string[] => [
  path,
  ...Array.from({ length: keptLogs }, (_, index) => `${path}.${index + 1}`),
];

/** Returns where to begin a log that was never read: at the newest file, or at the one before it if the newest is short. */
const startIndex = (facts: readonly ({ size: number } | null)[]) =>
  facts[1] != null && (facts[0]?.size ?? 0) < maxBytes ? 1 : 0;

/** Leaves an incomplete last line to the next read, because output of another process may come in between. */
function wholeLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(newline) + 1;
  return end === 0 && bytes.length < 4096
    ? bytes.subarray(0, 0)
    : bytes.subarray(0, end || bytes.length);
}
