// Imports a foreign dump of MySQL or MariaDB. A dump of their own tools is stored as it is, without statements that name its
// database. An export of another program is loaded into a scratch database and dumped from there.
import { finished } from "node:stream/promises";
import { toError } from "../../../to-error.ts";
import { keepEnd } from "../../foreign/keep-end.ts";
import type { ForeignFile } from "../../foreign/foreign-file.ts";
import { SourceError, type Intake } from "../source.ts";
import { writeTo } from "../../../write-to.ts";
import { createExportIntake, type ExportIntakeOptions } from "./export-intake.ts";
import { exportersByKind } from "./exports.ts";
import { createForeignStatements } from "./foreign-statements.ts";
import { siftDump } from "./sift.ts";

export function createMysqlIntake(options: ExportIntakeOptions, file: ForeignFile): Intake {
  const exporter = exportersByKind[file.kind];
  return exporter === undefined ? dumpIntake(file) : createExportIntake(options, exporter, file);
}

const dumpIntake = ({ content }: ForeignFile): Intake => ({
  async dump(into, { say }) {
    const statements = createForeignStatements();
    const end = keepEnd();
    try {
      for await (const bytes of siftDump(end.watch(content), statements))
        await writeTo(into, bytes);
      if (!/(?:^|\n)-- Dump completed[^\n]*\s*$/.test(end.text()))
        throw new SourceError(
          "The text ends without the end mark of a dump, “-- Dump completed”: it is cut off, or was made with --skip-comments or --compact, by phpMyAdmin without its comments, or by another program. Copy or dump it again. If it is whole, load it into an empty database with the client (mariadb or mysql), dump that with mysqldump or mariadb-dump, and import the dump.",
        );
      for (const line of statements.notes()) say(line);
      into.end();
      await finished(into, { readable: false });
      return { kind: "database", tables: statements.tables() };
    } catch (error) {
      into.destroy(toError(error));
      throw error;
    } finally {
      content.destroy();
    }
  },
});
