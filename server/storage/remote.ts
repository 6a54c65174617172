// Stores backups in a folder through commands, on a server over SSH or on a network mount, without disk access by the service
// itself.
import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "../hosts/host.ts";
import { toError } from "../to-error.ts";
import { isGone, isThereAlready, leadsOut, partsOfKey } from "./object-key.ts";
import { describeFailure, placeOf, runThere, type RemoteFolder } from "./remote-folder.ts";
import { exits, fromDisk, openedLine, scripts, unreadLine } from "./remote-scripts.ts";
import { StorageError, type ListedStorage, type StoredObject } from "./storage.ts";

/** `put` has to report a failure within 10 s; `remove`, which is retried, deletes what is left. */
const cleanUpMs = 4000;
const heldBytes = 1024 * 1024;

type Script = Exclude<keyof typeof scripts, "isMarked" | "mark">;
type Done = { verdict: "done" | "gone" | "there"; stdout: string; stderr: string };

/** @param isMarked whether the folder has a marker file; if it has disappeared, the disk is not mounted */
export function createRemoteStorage(
  folder: RemoteFolder,
  { isMarked = false } = {},
): ListedStorage {
  const place = placeOf(folder);
  const inWords = (key: string) => placeOf({ ...folder, root: `${folder.root}/${key}` });

  /** @throws StorageError, the error of the input or of the output, or the signal's reason */
  async function perform(
    script: Script,
    parts: readonly string[],
    command: Omit<Command, "argv"> = {},
  ): Promise<Done> {
    const args = [isMarked ? "marked" : "", parts.at(-1) ?? "", ...parts.slice(0, -1)];
    const end = await runThere(folder, scripts[script], args, command);
    const { exitCode, stdout, stderr } = end;
    if (exitCode === 0) return { verdict: "done", stdout, stderr };
    if (exitCode === exits.gone) return { verdict: "gone", stdout, stderr };
    if (exitCode === exits.there) return { verdict: "there", stdout, stderr };
    if (exitCode === exits.outside) throw leadsOut(stdout.trimEnd(), place);
    throw describeFailure(folder, end);
  }

  /** Errors are ignored, because the failure before is the one to report. */
  async function cleanUp(script: "discard" | "remove", parts: readonly string[]): Promise<void> {
    const over = new AbortController();
    const cleaning = perform(script, parts, { signal: over.signal });
    await Promise.race([cleaning, wait(cleanUpMs, undefined, { ref: false })]).catch(
      () => undefined,
    );
    over.abort();
    cleaning.catch(() => undefined);
  }

  /**
   * Streams the output of a script; resolves once the script has opened its file.
   * @param key null for the storage itself
   */
  async function open(
    script: "read" | "list",
    key: string | null,
    { signal, isSmall = false }: { signal: AbortSignal; isSmall?: boolean },
  ): Promise<Readable> {
    const passing = new PassThrough({ highWaterMark: heldBytes });
    const unread = new AbortController();
    passing.once("close", () => unread.abort(new Error("Reading was canceled.")));
    // Without a listener, an error before the caller adds one would crash the process.
    passing.on("error", () => undefined);
    const opened = Promise.withResolvers<void>();
    async function read(): Promise<void> {
      const { verdict } = await perform(script, key === null ? [] : partsOfKey(key), {
        isSmall,
        async take(piece) {
          if (!passing.write(Buffer.from(piece)))
            await once(passing, "drain", { signal: unread.signal });
        },
        onErrorLine(line) {
          if (line === openedLine) opened.resolve();
        },
        signal: AbortSignal.any([signal, unread.signal]),
      });
      if (verdict === "gone") throw isGone(inWords(key ?? ""));
      passing.end();
    }
    read().catch((error: unknown) => {
      opened.reject(error);
      passing.destroy(toError(error));
    });
    await opened.promise;
    return passing;
  }

  return {
    place,

    async put(key, content, { signal }) {
      const parts = partsOfKey(key);
      let left: "discard" | "remove" = "discard";
      try {
        const { verdict } = await perform("write", parts, { input: content, signal });
        if (verdict === "there") throw isThereAlready(inWords(key));
        // The caller no longer waits for an aborted upload, so its file must not appear later.
        signal.throwIfAborted();
        // From here on the object may exist although the server's response was lost.
        left = "remove";
        const named = await perform("name", parts, { signal });
        if (named.verdict === "there") left = "discard";
        return sizeIn(named, inWords(key));
      } catch (error) {
        content.destroy();
        await cleanUp(left, parts);
        signal.throwIfAborted();
        throw error;
      }
    },

    async replace(key, content, { signal }) {
      const parts = partsOfKey(key);
      try {
        await perform("writeAnew", parts, { input: Readable.from([content]), signal });
        signal.throwIfAborted();
        const { verdict } = await perform("nameAnew", parts, { signal });
        if (verdict === "gone") throw isGone(inWords(key));
      } catch (error) {
        await cleanUp("discard", parts);
        signal.throwIfAborted();
        throw error;
      }
    },

    async readBack(key, { signal }) {
      const { verdict, stdout, stderr } = await perform("readBack", partsOfKey(key), { signal });
      if (verdict === "gone") throw isGone(inWords(key));
      const [how = "", digest = ""] = stdout.split("\n");
      const checksum = /^\\?([0-9a-f]{64}) /.exec(digest)?.[1];
      if (checksum === undefined || stderr.split("\n").includes(unreadLine))
        throw describeFailure(folder, { stderr });
      return { kind: "digest", checksum, isFromDisk: how === fromDisk };
    },

    get: (key, options) => open("read", key, options),

    async *list({ signal, prefix = "" }) {
      const output = await open("list", null, { signal });
      for await (const found of readList(output)) if (found.key.startsWith(prefix)) yield found;
    },

    async size(key) {
      const found = await perform("size", partsOfKey(key));
      return found.verdict === "gone" ? null : sizeIn(found, inWords(key));
    },

    async remove(key) {
      await perform("remove", partsOfKey(key));
    },

    async freeBytes() {
      const { stdout } = await perform("free", []);
      const [blocks, bytes] = stdout.trim().split(" ").map(Number);
      const free = (blocks ?? Number.NaN) * (bytes ?? Number.NaN);
      return Number.isNaN(free) ? null : free;
    },
  };
}

function sizeIn({ verdict, stdout }: Done, path: string): number {
  if (verdict === "there") throw isThereAlready(path);
  if (verdict === "gone") throw isGone(path);
  if (!/^\d+\n$/.test(stdout)) throw new StorageError(`Couldn't read the size of ${path}.`);
  return Number(stdout);
}

/** @param output of `scripts.list` */
async function* readList(output: AsyncIterable<Buffer>): AsyncGenerator<StoredObject> {
  let held = Buffer.alloc(0);
  for await (const piece of output) {
    held = Buffer.concat([held, piece]);
    let from = 0;
    for (let end = held.indexOf(0); end !== -1; end = held.indexOf(0, from)) {
      const line = held.subarray(from, end).toString();
      from = end + 1;
      const space = line.indexOf(" ");
      yield { key: line.slice(space + 1), sizeBytes: Number(line.slice(0, space)) };
    }
    held = held.subarray(from);
  }
}
