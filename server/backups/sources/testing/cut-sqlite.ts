// Provides a SQLite database for the tests of cut connections.
import { chown, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Host } from "../../../hosts/host.ts";
import { createRemoteSqliteSource } from "../sqlite/remote/source.ts";
import type { Subject } from "./cut-promises.ts";

/**
 * SQLite writes the header of a journal last, and changes the database after that. A journal without a header belongs to a
 * transaction that changed nothing, and the next writer overwrites it.
 * @see https://www.sqlite.org/lockingv3.html#hot_journals
 */
const isUnbegunJournal = async (path: string): Promise<boolean> =>
  path.endsWith("-journal") && ((await readFile(path))[0] ?? 0) === 0;

/** @param uid owner of the database; by default the account of the tests */
export function sqliteIn(folder: string, host: Host, uid?: number): Omit<Subject, "mark"> {
  const path = join(folder, "shop's \u{1f6d2}.sqlite");
  const ask = (sql: string) => {
    const database = new DatabaseSync(path, { timeout: 5000 });
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  };
  return {
    source: createRemoteSqliteSource({ host, name: "shop", path }),
    fill: async (word) => {
      ask("create table if not exists pages (n integer, word text)");
      if (uid !== undefined) await chown(path, uid, uid);
      ask("delete from pages");
      ask(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
        insert into pages select i, replace(hex(zeroblob(200)), '00', '${word} ') from n`,
      );
    },
    read: async () => {
      const found = ask(
        "select substr(word, 1, 3) as word, count(*) as count from pages group by 1",
      );
      const [one] = found;
      const left: string[] = [];
      for (const name of await readdir(folder))
        if (!(await isUnbegunJournal(join(folder, name)))) left.push(name);
      return found.length === 1 && one?.["count"] === 20_000 && left.length === 1
        ? String(one["word"])
        : `${JSON.stringify(found)}, with ${left.join()}`;
    },
  };
}
