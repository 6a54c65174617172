// Imports a foreign SQLite database: it is written to a scratch file as the account, checked and counted, and stored as it is.
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { toError } from "../../../to-error.ts";
import type { ForeignFile } from "../../foreign/foreign-file.ts";
import type { Attempt, Intake } from "../source.ts";
import { writingTo } from "../../../write-to.ts";
import { tellChecked, textsOf, type Unchecked } from "./check-queries.ts";

/** Rows by table, and notes about what could not be checked. */
export type Tried = { tables: Record<string, number>; notes: Unchecked[] };

/** @param tryOut checks a database in a scratch file. @throws SourceError for a damaged one */
export const createSqliteIntake = (
  { content }: ForeignFile,
  tryOut: (from: Readable, attempt: Attempt) => Promise<Tried>,
): Intake => ({
  async dump(into, attempt) {
    const passed = Readable.from(writingTo(into, content), { highWaterMark: 1 });
    try {
      const { tables, notes } = await tryOut(passed, attempt);
      attempt.say([tellChecked(tables), ...textsOf(notes)].join(" "));
      into.end();
      await finished(into, { readable: false });
      return { kind: "database", tables };
    } catch (error) {
      into.destroy(toError(error));
      throw error;
    } finally {
      passed.destroy();
      content.destroy();
    }
  },
});
