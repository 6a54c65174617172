// Holds what a test's service made of events against the contract, whatever the test was about.
import { isDeepStrictEqual } from "node:util";
import { eventPayloads } from "../../contract/event-payloads.ts";
import { bodyOf, type EventRow } from "../events/event.ts";

/** @throws Error when a body does not fit its schema, or says something that its schema does not name */
export function checkEvents(rows: readonly EventRow[]): void {
  for (const row of rows) {
    // No webhook gets what is about the installation.
    if (row.server_id === null) continue;
    const body: unknown = JSON.parse(bodyOf({ ...row, created_at: new Date(row.created_at) }));
    const { success, data, error } = eventPayloads[row.type].safeParse(body);
    if (!success) throw new Error(`A ${row.type} event does not fit its schema: ${error.message}`);
    // What a schema does not know it leaves out.
    if (!isDeepStrictEqual(data, body))
      throw new Error(`A ${row.type} event says what no schema names: ${JSON.stringify(body)}`);
  }
}
