// Subscriptions of logical replication: they are not restored, and a restore would end those of a database, whose tables it drops.
import pg from "pg";
import { tellNames } from "./privileges.ts";

/** @returns why a restore of the database is refused, and what to do; null where no enabled subscription writes into it */
export async function whySubscribed(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ name: string }>(
    `select subname as name from pg_catalog.pg_subscription
     where subenabled and subdbid = (select oid from pg_catalog.pg_database where datname = current_database()) order by 1`,
  );
  if (rows.length === 0) return null;
  const names = rows.map(({ name }) => name);
  const alter = (...changes: string[]) =>
    names
      .flatMap((name) =>
        changes.map((change) => `ALTER SUBSCRIPTION ${pg.escapeIdentifier(name)} ${change};`),
      )
      .join(" ");
  return `the database receives rows by the subscription ${tellNames(names)}, which the restore would end. Disable it first: ${alter("DISABLE")} After the restore: ${alter("ENABLE", "REFRESH PUBLICATION WITH (copy_data = false)")}`;
}

/** @param contents lines of the archive's table of contents. @returns the names of its subscriptions */
export const subscriptionsIn = (contents: readonly string[]): string[] =>
  contents.flatMap((line) => /^\S+ \d+ \d+ SUBSCRIPTION - (.+) \S+ *$/.exec(line)?.[1] ?? []);
