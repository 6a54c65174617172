// Finds out why forms cannot write the inventory file of this instance.
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import type { Instance } from "../instances/life.ts";
import { whyNotReplaceable } from "./replace-file.ts";

type ReadOnlyOptions = {
  db: Database;
  /** Null for an instance that reads no file. */
  file: string | null;
  isWanted: boolean;
  instance: Instance | null;
};

/** @returns a function that returns the reason as a sentence; null = forms can write the file */
export const createWhyReadOnly =
  ({ db, file, isWanted, instance }: ReadOnlyOptions) =>
  async (): Promise<string | null> => {
    if (file === null)
      return "This instance reads no inventory (QUARTERDECK_ROLE=api): the file is on the instances that look after servers.";
    if (isWanted) return `${file} is read-only here: QUARTERDECK_INVENTORY_READONLY is set.`;
    const code = await whyNotReplaceable(file);
    if (code !== null) return `Quarterdeck cannot write ${file} (${code}).`;
    const others = instance === null ? [] : await othersWithInventories(db, instance);
    return others.length === 0
      ? null
      : `Each instance reads an inventory of its own, and there are others: ${others.join(", ")}. Change the file on all of them.`;
  };

async function othersWithInventories(db: Database, { home }: Instance): Promise<string[]> {
  const { rows } = await db.execute<{ name: string }>(
    sql`select distinct name from instances
        where home <> ${home} and role <> 'api' and until > clock_timestamp() order by name`,
  );
  return rows.map(({ name }) => name);
}
