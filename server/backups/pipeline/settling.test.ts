// Tests failures of every part of a backup's pipeline at every moment, with real processes and a real storage.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import {
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  record,
  type Arbitrary,
} from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEncrypt } from "../../encryption/encrypt.ts";
import { createLocalHost } from "../../hosts/local.ts";
import { createLocalStorage } from "../../storage/local.ts";
import { createS3Storage } from "../../storage/s3.ts";
import type { Storage } from "../../storage/storage.ts";
import { startS3, type Gate } from "../../storage/testing/s3.ts";
import { isLongForm } from "../../testing/long-form.ts";
import { makeSeed } from "../../testing/random.ts";
import { storeDump } from "./store-dump.ts";
import { SourceError } from "../sources/source.ts";
import { writeTo } from "../../write-to.ts";
import { settleMs } from "./together.ts";
import { toError } from "../../to-error.ts";
import { keysOf } from "../../../contract/keys-of.ts";
import { soon } from "../../testing/soon.ts";

const isRoot = process.getuid?.() === 0;
const seed = makeSeed("SETTLING_SEED");
const recipient = await identityToRecipient(await generateX25519Identity());
const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/" });
/** Does not compress; with parts of 8 MiB it is stored as three of them. */
const wholeBytes = 20_000_000;

let folder: string;
let s3: Gate;
/** Rule of the gate for the requests of each case, by the case's key. */
const rules = new Map<string, (asked: string) => ReturnType<Parameters<Gate["rule"]>[0]>>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-settling-"));
  for (const name of ["objects", "disk", "full"]) await mkdir(join(folder, name));
  await writeFile(join(folder, "content"), randomBytes(wholeBytes));
  if (isRoot)
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=9m", "tmpfs", join(folder, "full")]);
  s3 = await startS3(join(folder, "objects"));
  s3.rule((asked) => {
    const key = /\/copies\/([\w-]+)/.exec(asked)?.[1] ?? "";
    return rules.get(key)?.(asked) ?? "pass";
  });
});
afterAll(async () => {
  await s3.close();
  if (isRoot) execFileSync("umount", ["--lazy", join(folder, "full")]);
  await rm(folder, { recursive: true, force: true });
});

const moments = {
  "before the first byte": 0,
  "in the middle": 10_000_000,
  "at the end": wholeBytes,
};
const when = constantFrom(...keysOf(moments));
const cases = record({
  when,
  source: constantFrom(
    ...([
      "ends well",
      "ends well",
      "ends well",
      "exits with 3",
      "is killed",
      "closes its output",
      "breaks its stream",
      "hangs",
    ] as const),
  ),
  storage: constantFrom(
    ...([
      "S3",
      "S3",
      "S3 refused",
      "a disk",
      ...(isRoot ? (["a full disk"] as const) : []),
    ] as const),
  ),
  request: constantFrom(
    ...([
      "uploads=",
      "partNumber=1",
      "partNumber=2",
      "partNumber=3",
      "POST .*uploadId=",
      "HEAD",
    ] as const),
  ),
  answer: constantFrom(...(["pass", "pass", "reset", "hang", 500] as const)),
  isEncrypted: boolean(),
  between: constantFrom(...([null, null, null, "before the first byte", "in the middle"] as const)),
  abort: constantFrom(
    ...([null, null, "before the first byte", "in the middle", "at the end"] as const),
  ),
});
type Case = typeof cases extends Arbitrary<infer Value> ? Value : never;

const scripts = {
  "ends well": "exit 0",
  "exits with 3": "exit 3",
  "is killed": "kill -9 $$",
  "closes its output": "exec >&-; exit 3",
  "breaks its stream": "exec sleep 600",
  hangs: "exec sleep 600",
} as const satisfies Record<Case["source"], string>;

/** Runs a tool that writes its content and ends as the case requires. */
async function dump(key: string, { source, when }: Case, into: Writable, signal: AbortSignal) {
  const bytes = source === "ends well" ? wholeBytes : moments[when];
  let written = 0;
  const breakAt = () => {
    if (source === "breaks its stream" && written >= bytes) into.destroy(new Error("stream broke"));
  };
  try {
    breakAt();
    const { exitCode } = await host.run({
      argv: ["sh", "-c", `head -c ${bytes} "$CONTENT"; ${scripts[source]}`],
      environment: { CONTENT: join(folder, "content"), CASE: `${key} of ${folder}` },
      async take(piece) {
        await writeTo(into, piece);
        written += piece.length;
        breakAt();
      },
      signal,
    });
    if (exitCode !== 0) throw new SourceError("the source failed");
    into.end();
    await finished(into, { readable: false });
    return { kind: "database" as const, tables: {} };
  } catch (error) {
    into.destroy(toError(error));
    throw error;
  }
}

function openStorage({ storage, answer }: Case): Storage {
  if (storage === "a disk" || storage === "a full disk")
    return createLocalStorage({ path: join(folder, storage === "a disk" ? "disk" : "full") });
  const refused = storage === "S3 refused" ? { endpoint: "http://127.0.0.1:1" } : {};
  // A short timeout only where no response comes: on a busy machine a real one may take longer.
  const idle = storage === "S3" && answer === "hang" ? { idleMs: 2000 } : {};
  return createS3Storage({ ...s3.options, ...refused, ...idle });
}

/** Returns the causes that may be reported first; none = the run must succeed. */
function causesOf(tried: Case): RegExp[] {
  const causes: RegExp[] = [];
  if (tried.source === "breaks its stream") causes.push(/stream broke/);
  else if (tried.source !== "ends well" && tried.source !== "hangs")
    causes.push(/the source failed/);
  if (tried.storage === "S3 refused") causes.push(/refused the connection/);
  if (tried.storage === "a full disk") causes.push(/No space left/);
  if (tried.storage === "S3" && tried.answer !== "pass")
    causes.push(
      { reset: /closed the connection/, hang: /timed out/, 500: /returned 500/ }[tried.answer],
    );
  if (tried.between !== null) causes.push(/the hash failed/);
  if (tried.abort !== null) causes.push(/^enough$/);
  return causes;
}

/** Returns the cases that have a process left. */
async function processesLeft(): Promise<unknown[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")),
  );
  return environments.flatMap((text) =>
    text.includes(` of ${folder}`) ? [/CASE=(\S+)/.exec(text)?.[1]] : [],
  );
}

let count = 0;
const stored = { ends: 0, fails: 0 };

async function tryCase(given: Case): Promise<void> {
  count += 1;
  const key = `case-${count}`;
  // Cases that hang forever are aborted; with no other failure they would not end.
  const tried =
    given.source === "hangs" ? { ...given, abort: given.abort ?? "in the middle" } : given;
  const storage = openStorage(tried);
  const outside = new AbortController();
  const { answer, request } = tried;
  rules.set(key, (asked) => (new RegExp(request).test(asked) ? answer : "pass"));
  const reachable = tried.source === "ends well" ? wholeBytes : moments[tried.when];
  const at = (moment: keyof typeof moments | null) =>
    moment === null ? Infinity : Math.min(moments[moment], reachable);
  let failedAt = Infinity;
  const noteFailure = () => (failedAt = Math.min(failedAt, performance.now()));
  const follow = (bytes: number) => {
    if (bytes < at(tried.abort) || outside.signal.aborted) return;
    noteFailure();
    outside.abort(new Error("enough"));
  };
  const running = storeDump({
    storage,
    key,
    encrypt: tried.isEncrypted ? await createEncrypt([recipient]) : null,
    signal: outside.signal,
    dump: (into, signal) => {
      // A tool that writes nothing reports no progress.
      if (tried.abort !== null) setTimeout(() => follow(Infinity), 1500).unref();
      return dump(key, tried, into, signal).catch((error: unknown) => {
        noteFailure();
        throw error;
      });
    },
    onProgress({ plainBytes }) {
      follow(plainBytes);
      if (plainBytes >= at(tried.between)) throw new Error("the hash failed");
    },
  });
  const outcome = await running.then(
    (value) => value,
    (error: Error) => error,
  );
  expect(performance.now() - Math.min(failedAt, performance.now())).toBeLessThan(settleMs + 500);
  const causes = causesOf(tried);
  rules.delete(key);
  const reached =
    tried.storage === "S3 refused"
      ? openStorage({ ...tried, storage: "S3", answer: "pass" })
      : storage;
  if (outcome instanceof Error) {
    stored.fails += 1;
    expect(
      causes.some((words) => words.test(outcome.message)),
      `told: ${outcome.stack}`,
    ).toBe(true);
    expect(await reached.size(key), "an object is left").toBeNull();
    // Like the service after each failed run: a storage that was unavailable may have a partial file.
    await reached.remove(key);
  } else {
    stored.ends += 1;
    expect(await reached.size(key)).toBe(outcome.sizeBytes);
    await reached.remove(key);
  }
  if (causes.length === 0) expect(outcome).not.toBeInstanceOf(Error);
}

test(
  `whichever end fails, whenever and however, all ends settle within 10 s, and the first cause is reported (SETTLING_SEED=${seed})`,
  { timeout: isLongForm ? 1_200_000 : 120_000 },
  async () => {
    await assert(
      asyncProperty(array(cases, { minLength: 12, maxLength: 12 }), async (tried) => {
        const outcomes = await Promise.allSettled(tried.map(tryCase));
        const broken = outcomes.flatMap((outcome, index) =>
          outcome.status === "rejected"
            ? [`${JSON.stringify(tried[index])}\n${String(outcome.reason)}`]
            : [],
        );
        expect(broken.join("\n\n")).toBe("");
        await soon(async () => expect(await processesLeft()).toEqual([]));
      }),
      { seed, numRuns: isLongForm ? 30 : 1, endOnFailure: true },
    );
    const left = await Promise.all(["disk", "full"].map((name) => readdir(join(folder, name))));
    expect(left).toEqual([[], []]);
    expect(stored.fails).toBeGreaterThan(0);
  },
);
