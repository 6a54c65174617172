// The log of a worker whose processes run elsewhere. supervisord writes one file a process there and rotates it; here they
// are one log, as if the processes had been started here. It is fetched when somebody reads it, from where the last reading
// ended, so that a connection that was cut leaves no gap.
import { mkdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import type { WorkerLog } from "../../../contract/workers/worker.ts";
import { messageOf } from "../../loggable-error.ts";
import type { LogPosition } from "../process-manager.ts";
import { keptLogs, logPath, readLogStart, sizeOf, writeLogStart } from "../supervisor/log-files.ts";
import { readLogOrProblem } from "../supervisor/log-reader.ts";
import { rotateLog } from "../supervisor/log-rotation.ts";
import { factsOf, readBytes } from "./files.ts";
import type { Machine } from "./machine.ts";

/** Up to which byte of which file something was taken over. */
const position = z.object({ inode: z.string(), offset: z.int() });

const stateSchema = z.object({
  /** By the path of the newest file. */
  positions: z.record(z.string(), position),
  /** Where the log here ends that they led to; what is beyond was written by a service that was killed then. */
  end: z.int(),
});
type State = z.infer<typeof stateSchema>;
type Position = z.infer<typeof position>;

/** At once from one process; whoever wants more asks again. */
const maxBytes = 512 * 1024;
/** One that nobody read for long is not fetched from its beginning. */
const maxBehindBytes = 4 * 1024 * 1024;

type RemoteLogOptions = {
  machine: Machine;
  /** Here, of the worker's own. */
  folder: string;
  /** There, of each process. */
  paths(): Promise<string[]>;
};

export type RemoteLog = { read(from: LogPosition): Promise<WorkerLog> };

export function createRemoteLog({ machine, folder, paths }: RemoteLogOptions): RemoteLog {
  const statePath = join(folder, "log.positions.json");
  let state: State | null = null;
  let fetching: Promise<boolean> | null = null;

  const endOfLog = () => readLogStart(folder) + sizeOf(logPath(folder));

  function load(): State {
    try {
      const read = stateSchema.parse(JSON.parse(readFileSync(statePath, "utf8")));
      const surplus = endOfLog() - read.end;
      if (surplus > 0)
        truncateSync(logPath(folder), Math.max(0, sizeOf(logPath(folder)) - surplus));
      return read;
    } catch {
      return { positions: {}, end: endOfLog() };
    }
  }

  function save(next: State): void {
    writeFileSync(`${statePath}.new`, JSON.stringify(next), { mode: 0o600 });
    renameSync(`${statePath}.new`, statePath);
  }

  /** What follows a position, of one file, and where that leads. */
  async function follow(path: string, from: Position | undefined) {
    const files = [path, ...Array.from({ length: keptLogs }, (_, index) => `${path}.${index + 1}`)];
    const facts = await factsOf(machine, files);
    // The oldest one that has something new; those before it were read.
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
    // It may have been rotated between the two looks; then the bytes are of another file.
    const [again] = await factsOf(machine, [file]);
    if (again?.inode !== found.inode)
      return { bytes: Buffer.alloc(0), position: from, isMore: true };
    const whole = index > 0 || length === maxBytes ? bytes : wholeLines(bytes);
    return {
      bytes: whole,
      position: { inode: found.inode, offset: offset + whole.length },
      isMore: index > 0 || length === maxBytes,
    };
  }

  /** @returns whether there is more */
  async function fetchOnce(): Promise<boolean> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    state ??= load();
    let isMore = false;
    for (const path of await paths()) {
      const found = await follow(path, state.positions[path]);
      if (found === null) continue;
      isMore ||= found.isMore;
      if (found.bytes.length === 0 || found.position === undefined) continue;
      if (sizeOf(join(folder, "log.start")) === 0) writeLogStart(folder, 0);
      await appendFile(logPath(folder), found.bytes, { mode: 0o600 });
      state = { positions: { ...state.positions, [path]: found.position }, end: endOfLog() };
      save(state);
      if (await rotateLog(folder)) {
        state = { ...state, end: endOfLog() };
        save(state);
      }
    }
    return isMore;
  }

  const fetch = () =>
    (fetching ??= fetchOnce().finally(() => {
      fetching = null;
    }));

  return {
    async read(from) {
      try {
        for (let rounds = 0; rounds < 20 && (await fetch()); rounds += 1);
        return readLogOrProblem(folder, from);
      } catch (error) {
        const problem = `Couldn't read the log on the server, so this is what was read before: ${messageOf(error)}`;
        return { ...readLogOrProblem(folder, from), problem };
      }
    },
  };
}

/** Of a log that was never read: from the newest file on, and the one before it where that is short. */
const startIndex = (facts: readonly ({ size: number } | null)[]) =>
  facts[1] != null && (facts[0]?.size ?? 0) < maxBytes ? 1 : 0;

/** A line that is still being written is left to the next reading, because another process's may come in between. */
function wholeLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(0x0a) + 1;
  return end === 0 && bytes.length < 4096
    ? bytes.subarray(0, 0)
    : bytes.subarray(0, end || bytes.length);
}
