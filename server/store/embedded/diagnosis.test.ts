import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../testing/machine.ts";
import { explainEnd } from "./diagnosis.ts";

const line = (code: string, words: string) => `2026-11-20 23:24:16.000 UTC [12] ${code} ${words}\n`;

test.each([
  [
    "a full disk",
    line("53100", 'PANIC:  could not write to file "pg_wal/x": No space left on device'),
    /^The disk that holds .* is full \(\d+ MB free\)\. Free some space; the database then restarts/,
  ],
  ["a quota", line("53100", 'FATAL:  could not extend file "x": Disk quota exceeded'), /is full/],
  ["no memory", line("53200", "FATAL:  out of memory"), /no memory left.*restarts automatically/],
  [
    "a read-only disk",
    line("58030", 'PANIC:  could not open file "x": Read-only file system'),
    /cannot write to .*restarts automatically/,
  ],
  [
    "a failing disk",
    line("58030", "PANIC:  could not fsync file: Input/output error"),
    /disk is failing, or .* damaged.*restarts automatically/,
  ],
  [
    "a reason of its own",
    line("XX000", "FATAL:  something rare") +
      line("57P03", "FATAL:  the database is shutting down"),
    /\(something rare\)/,
  ],
  [
    "a worker that was killed",
    line("00000", "LOG:  checkpointer process (PID 7) was terminated by signal 9: Killed"),
    /\(checkpointer process \(PID 7\) was terminated by signal 9: Killed\)/,
  ],
  ["a library that is missing", "postgres: error while loading libz.so.1\n", /libz\.so\.1/],
  [
    "an error of one query, which ended nothing",
    line("53100", 'ERROR:  could not extend file "x": No space left on device'),
    /unexpectedly \(signal SIGKILL\)/,
  ],
  ["no word at all", "", /unexpectedly \(signal SIGKILL\)\. See its log, .*postgres\.log\.$/],
])("describes an end by %s to operators", async (_, log, words) => {
  const home = await makeFolder();
  const logFile = join(home, "postgres.log");
  await writeFile(logFile, log);
  const place = { home, data: join(home, "data"), logFile };
  const retryHint = "; the database then restarts automatically.";
  expect(await explainEnd(place, 0, "signal SIGKILL", retryHint)).toMatch(words);
});
