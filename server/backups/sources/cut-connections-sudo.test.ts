// Tests sources of an account that is reached by sudo, over connections that are cut.
import { execFileSync } from "node:child_process";
import { chmod, chown, lstat, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe } from "vitest";
import { cutRounds } from "../../ssh/testing/cuts.ts";
import { createSudoServer } from "../../ssh/testing/remote-server.ts";
import { isRoot } from "../../testing/machine.ts";
import { createRemoteFolderSource } from "./folder/remote/source.ts";
import { keepsItsPromises } from "./testing/cut-promises.ts";
import { sqliteIn } from "./testing/cut-sqlite.ts";

const remote = createSudoServer();

describe.runIf(isRoot)("a site's folder behind sudo, with SQLite in it", () => {
  beforeEach(() => remote.responds());
  const files = 100;
  keepsItsPromises(remote, async () => {
    const { folder, uid } = await remote.home();
    const root = join(folder, "site");
    const database = join(root, "data/shop.sqlite");
    const ask = (sql: string) => {
      const opened = new DatabaseSync(database, { timeout: 5000 });
      try {
        return opened.prepare(sql).all();
      } finally {
        opened.close();
      }
    };
    return {
      source: createRemoteFolderSource({ host: await remote.host(), name: "shop", root }),
      fill: async (word) => {
        await rm(root, { recursive: true, force: true });
        await mkdir(join(root, "data"), { recursive: true });
        for (let number = 0; number < files; number += 1)
          await writeFile(join(root, `page-${number}`), `${word} `.repeat(10_000));
        ask("create table pages (n integer, word text)");
        ask(
          `with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
          insert into pages select i, replace(hex(zeroblob(200)), '00', '${word} ') from n`,
        );
        execFileSync("chown", ["-R", `${uid}:${uid}`, root]);
        await chmod(root, 0o700);
      },
      read: async () => {
        const names = (await readdir(root)).filter((name) => name !== "data");
        const pages = await Promise.all(
          names.map(async (name) => (await readFile(join(root, name), "utf8")).slice(0, 3)),
        );
        const rows = ask(
          "select substr(word, 1, 3) as word, count(*) as count from pages group by 1",
        );
        const words = new Set([...pages, ...rows.map(({ word }) => word)]);
        const [word] = pages;
        const beside = (await readdir(folder)).filter((name) => name.includes("site")).join();
        const { uid: owner } = await lstat(database);
        return words.size === 1 &&
          names.length === files &&
          rows[0]?.["count"] === 20_000 &&
          beside === "site" &&
          owner === uid
          ? (word ?? "")
          : `${names.length} files, ${JSON.stringify(rows)}, ${[...words].join()}, of ${owner}, beside ${beside}`;
      },
      mark: root,
    };
  });
});

// The same as without sudo, which `cut-connections.test.ts` tests; `npm run soak -- cuts` tests both.
describe.runIf(isRoot).each(cutRounds > 1 ? ["SQLite behind sudo"] : [])("%s", () => {
  beforeEach(() => remote.responds());
  keepsItsPromises(remote, async () => {
    const { folder: home, uid } = await remote.home();
    const folder = join(home, "database");
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { mode: 0o700 });
    await chown(folder, uid, uid);
    return { ...sqliteIn(folder, await remote.host(), uid), mark: folder };
  });
});
