// A source for a SQLite database that belongs to another account: performs each operation in a process of that account.
import { finished } from "node:stream/promises";
import type { LocalHost } from "../../../hosts/host.ts";
import { defineTask, type Task, type TaskPort, type TaskStreams } from "../../../hosts/task.ts";
import { reviveSourceError, type Attempt, type Manifest, type Source } from "../source.ts";
import {
  createSqliteSource,
  tellSqliteVersion,
  type SqliteOptions,
  type SqliteSource,
} from "./source.ts";
import { createSqliteIntake } from "./intake.ts";
import { workWithoutThread } from "./work.ts";

/** A time limit, because the account could stop its own processes. */
const existsMs = 60_000;

type Args = { options: SqliteOptions; id: number };

const operation = <More, Result>(
  name: string,
  perform: (source: SqliteSource, attempt: Attempt, port: TaskPort, more: More) => Promise<Result>,
): Task<Args & { more: More }, Result> =>
  defineTask(import.meta.url, name, ({ options, id, more }, port) => {
    workWithoutThread();
    const { say, signal } = port;
    return perform(createSqliteSource(options), { id, say, signal }, port, more);
  });

const rehearseSqlite = operation("rehearseSqlite", (source, { signal }) => source.rehearse(signal));
const warnSqlite = operation("warnSqlite", (source, { signal }) => source.warnings(signal));
const dumpSqlite = operation("dumpSqlite", (source, attempt, { output }) =>
  source.dump(output, attempt),
);
const clearSqlite = operation("clearSqlite", (source, attempt) => source.clear(attempt));
const existsSqlite = operation("existsSqlite", (source) => source.exists());
const countSqlite = operation("countSqlite", (source, { signal }) => source.countRows(signal));
const restoreSqlite = operation(
  "restoreSqlite",
  (source, attempt, { input }, manifest: Manifest | null) =>
    source.restore(input, attempt, manifest),
);
const drillSqlite = operation(
  "drillSqlite",
  (source, attempt, { input }, manifest: Manifest | null) => source.drill(input, manifest, attempt),
);
const tryOutSqlite = operation("tryOutSqlite", (source, attempt, { input }) =>
  source.tryOut(input, attempt),
);
const settleSqlite = operation("settleSqlite", (source, attempt) => source.settle(attempt));

export function createSqliteSourceAs(
  host: LocalHost,
  options: SqliteOptions,
): Source & Pick<SqliteSource, "warnings"> {
  const perform = async <More, Result>(
    task: Task<Args & { more: More }, Result>,
    more: More,
    id: number,
    streams: TaskStreams,
  ): Promise<Result> => {
    try {
      return await host.perform(task, { options, id, more }, streams);
    } catch (error) {
      throw reviveSourceError(error);
    }
  };

  return {
    extension: "sqlite",
    tools: tellSqliteVersion,

    rehearse: (signal) => perform(rehearseSqlite, null, 0, { signal }),

    warnings: (signal) => perform(warnSqlite, null, 0, { signal }),

    async dump(into, { id, say, signal }) {
      try {
        const manifest = await perform(dumpSqlite, null, id, { output: into, say, signal });
        into.end();
        await finished(into, { readable: false });
        return manifest;
      } catch (error) {
        // A process that was killed has not removed its own copy.
        await perform(clearSqlite, null, id, { signal: AbortSignal.timeout(existsMs) }).catch(
          () => undefined,
        );
        into.destroy(error instanceof Error ? error : undefined);
        throw error;
      }
    },

    exists: () => perform(existsSqlite, null, 0, { signal: AbortSignal.timeout(existsMs) }),

    countRows: (signal) => perform(countSqlite, null, 0, { signal }),
    isBuiltAside: true,

    async restore(from, { id, say, signal }, manifest = null) {
      try {
        await perform(restoreSqlite, manifest, id, { input: from, say, signal });
      } finally {
        from.destroy();
      }
    },

    async drill(from, manifest, { id, say, signal }) {
      try {
        return await perform(drillSqlite, manifest, id, { input: from, say, signal });
      } finally {
        from.destroy();
      }
    },

    intake: (file) =>
      createSqliteIntake(file, (from, { id, say, signal }) =>
        perform(tryOutSqlite, null, id, { input: from, say, signal }),
      ),

    settle: ({ id, say, signal }) => perform(settleSqlite, null, id, { say, signal }),
  };
}
