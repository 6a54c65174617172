// Imports exports of phpMyAdmin and Adminer: they are loaded into a scratch database and dumped from there, because they create keys
// and views in another order than dump tools. Restores, drills and browsing get a dump as they expect it.
import { Readable } from "node:stream";
import { toError } from "../../../to-error.ts";
import type { ForeignFile } from "../../foreign/foreign-file.ts";
import { SourceError, type Intake } from "../source.ts";
import { clientOf, quoteName, type MysqlClient } from "./client.ts";
import { dumpMysql } from "./dump.ts";
import { MysqlError } from "./errors.ts";
import { createExportReader, type Exporter } from "./exports.ts";
import { listNames } from "./list-names.ts";
import { markerTable, type Names } from "./plan.ts";
import { dropScratch, endSessions, leadOf, makeScratch } from "./scratch.ts";

export type ExportIntakeOptions = {
  client: MysqlClient;
  namesFor(id: number): Pick<Names, "lock" | "drill">;
};

const dropLimitMs = 60_000;

export function createExportIntake(
  { client, namesFor }: ExportIntakeOptions,
  exporter: Exporter,
  { content }: ForeignFile,
): Intake {
  const reader = createExportReader(exporter);
  return {
    async prepare({ id, say, signal }) {
      const names = namesFor(id);
      const { drill: database } = names;
      await endSessions(client, names, signal);
      await dropScratch(client, [database], signal);
      await makeScratch(client, names, database, signal);
      say(`Loading the SQL into the database ${database}, which is dropped afterwards.`);
      let unread: unknown;
      async function* script() {
        try {
          yield Buffer.from(leadOf(names, database));
          yield* reader.read(content);
        } catch (error) {
          unread = error;
          throw error;
        }
      }
      const input = Readable.from(script());
      await client.feed(input, { database, signal, isLong: true }).catch((error: unknown) => {
        signal.throwIfAborted();
        // An error of the file, instead of the client's error that it caused.
        if (unread !== undefined) throw unread;
        if (!(error instanceof MysqlError)) throw error;
        // Without the line number, which is not that of the file.
        throw new SourceError(
          `The file couldn't be loaded: ${error.message.replace(/ at line \d+/, "")}`,
          { cause: error },
        );
      });
      await client.query(`DROP TABLE ${quoteName(database)}.${markerTable}`, { signal });
      for (const line of reader.notes()) say(line);
    },

    async dump(into, attempt) {
      const options = { client: clientOf(client, namesFor(attempt.id).drill) };
      const manifest = await dumpMysql(options, into, attempt, { events: reader.events() });
      const loaded = manifest.kind === "database" ? manifest.tables : {};
      const fewer = Object.entries(reader.tables()).flatMap(([table, rows]) =>
        rows > (loaded[table] ?? rows) ? [`${table} has ${loaded[table]} rows of ${rows}`] : [],
      );
      if (fewer.length > 0)
        attempt.say(
          `Warning: the server left out or replaced rows of the file, as INSERT IGNORE, REPLACE and ON DUPLICATE KEY UPDATE let it: ${listNames(fewer)}.`,
        );
      return manifest;
    },

    async discard({ id, say }) {
      content.destroy();
      const names = namesFor(id);
      // Not the attempt's own signal, because the database has to be dropped after an abort, too.
      const limit = () => AbortSignal.timeout(dropLimitMs);
      try {
        await endSessions(client, names, limit());
        await dropScratch(client, [names.drill], limit());
      } catch (error) {
        say(`The scratch database ${names.drill} could not be dropped: ${toError(error).message}`);
      }
    },
  };
}
