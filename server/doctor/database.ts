// Checks the service's own database: whether it responds, its schema, and its clock.
import type { Diagnosis } from "../../contract/doctor.ts";
import { openUnchanged, type OpenDatabase } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { readSchemaState } from "../store/schema-version.ts";
import type { ConnectionOptions } from "../store/storable.ts";
import { ok, warning } from "./finding.ts";

const name = "Database";

type Found = {
  diagnosis: Diagnosis;
  /** Null where it has no tables yet. */
  opened: OpenDatabase | null;
  /** How far its clock is ahead of this machine's. */
  offsetMs: number;
};

/** @throws errors that `expectedErrorMessage` knows how to explain */
export async function checkDatabase(connection: ConnectionOptions): Promise<Found> {
  const opened = await openUnchanged(connection);
  const beforeMs = Date.now();
  const { rows } = await opened.db.execute<{ version: string; now_ms: string }>(
    sql`select current_setting('server_version') as version,
      extract(epoch from clock_timestamp()) * 1000 as now_ms`,
  );
  const afterMs = Date.now();
  const [row] = rows;
  const offsetMs = Number(row?.now_ms) - (beforeMs + afterMs) / 2;
  const server = `PostgreSQL ${row?.version ?? ""} responds`;
  const state = await readSchemaState(opened.db);
  if (state === "empty") await opened.close();
  return {
    opened: state === "empty" ? null : opened,
    offsetMs,
    diagnosis: {
      empty: () =>
        warning(name, `${server}, and has no tables yet.`, "Start the service: it makes them."),
      older: () =>
        warning(
          name,
          `${server}; its schema is one of an earlier version.`,
          "Start this version of the service: it brings the schema up to date.",
        ),
      current: () => ok(name, `${server}; its schema is up to date.`),
    }[state](),
  };
}
