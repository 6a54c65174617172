// Tests PostgreSQL, MariaDB, SQLite and folders over connections that are cut.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import type { Host } from "../../hosts/host.ts";
import { cutRounds } from "../../ssh/testing/cuts.ts";
import { createRemoteServer } from "../../ssh/testing/remote-server.ts";
import { isLongForm } from "../../testing/long-form.ts";
import { isRoot, makeFolder } from "../../testing/machine.ts";
import { startMariadbServer, type MariadbServer } from "../testing/mariadb-server.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../testing/postgres-server.ts";
import { createRemoteFolderSource } from "./folder/remote/source.ts";
import { createMysqlSource } from "./mysql/source.ts";
import { createMysqlServerSource } from "./mysql-server/source.ts";
import { createPostgresSource } from "./postgres/source.ts";
import { createPostgresServerSource } from "./postgres-server/source.ts";
import type { Source } from "./source.ts";
import { keepsItsPromises, type Subject } from "./testing/cut-promises.ts";
import { sqliteIn } from "./testing/cut-sqlite.ts";

const remote = createRemoteServer();
beforeEach(() => remote.responds());

describe.skipIf(!hasPostgresServer)("PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgresServer();
    await server.createDatabase("shop");
    await server.query("shop", "create table pages (n int, word text)");
  });
  afterAll(() => server?.stop());

  keepsItsPromises(remote, async () => ({
    source: createPostgresSource({
      host: await remote.host(),
      name: "shop",
      url: server.url("shop"),
    }),
    fill: async (word) => {
      await server.query(
        "shop",
        `drop table if exists pages; create table pages as select n, repeat('${word} ', 100) as word from generate_series(1, 20000) n`,
      );
    },
    read: async () => {
      const found = await server.query<{ word: string; count: string }>(
        "shop",
        "select left(word, 3) as word, count(*) from pages group by 1",
      );
      const [one] = found;
      return found.length === 1 && one?.count === "20000" ? one.word : JSON.stringify(found);
    },
    mark: `PGPORT=${server.port}`,
  }));
});

// Its steps are tested above one by one; `npm run soak -- sources` tests them together.
describe
  .skipIf(!hasPostgresServer)
  .each(isLongForm ? ["all databases of a PostgreSQL server"] : [])("%s", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgresServer();
    await server.createDatabase("shop");
  });
  afterAll(() => server?.stop());

  const sourceOn = async (): Promise<Source> => {
    const source = createPostgresServerSource({
      host: await remote.host(),
      name: "db-1",
      url: server.url("postgres"),
      spoolFolder: "/var/tmp",
    });
    return {
      ...source,
      // The next run reports what a cut leaves, and the next restore of the same backup removes it.
      async rehearse(signal) {
        const told = await source.rehearse(signal);
        await source.settle({ id: 7, say: () => undefined, signal });
        return told;
      },
    };
  };

  const make = async (): Promise<Subject> => ({
    source: await sourceOn(),
    fill: async (word) => {
      for (const name of ["shop", "postgres"])
        await server.query(
          name,
          `drop table if exists pages; create table pages as select n, repeat('${word} ', 100) as word from generate_series(1, 10000) n`,
        );
    },
    read: async () => {
      const found: string[] = [];
      for (const name of ["shop", "postgres"]) {
        const words = await server.query<{ word: string }>(
          name,
          "select distinct left(word, 3) as word from pages",
        );
        found.push(...words.map(({ word }) => word));
      }
      const scratch = await server.query(
        "template1",
        "select datname from pg_database where datname like 'quarterdeck%'",
      );
      const [one = "", other] = found;
      return found.length === 2 && one === other && scratch.length === 0
        ? one
        : JSON.stringify({ found, scratch });
    },
    mark: `PGPORT=${server.port}`,
  });
  keepsItsPromises(remote, make, { runsOn: false });
});

// The code path is the same with sudo, which `cut-connections-sudo.test.ts` tests.
describe.each(cutRounds > 1 || !isRoot ? ["a site's folder"] : [])("%s", () => {
  const files = 500;
  keepsItsPromises(remote, async () => {
    const folder = await makeFolder();
    const root = join(folder, "site");
    const host: Host = await remote.host();
    return {
      source: createRemoteFolderSource({ host, name: "shop", root }),
      fill: async (word) => {
        await rm(root, { recursive: true, force: true });
        await mkdir(root);
        for (let number = 0; number < files; number += 1)
          await writeFile(join(root, `page-${number}`), `${word} `.repeat(10_000));
      },
      read: async () => {
        const names = await readdir(root);
        const found = await Promise.all(
          names.map(async (name) => (await readFile(join(root, name), "utf8")).slice(0, 3)),
        );
        const beside = (await readdir(folder)).join();
        return names.length === files && new Set(found).size === 1 && beside === "site"
          ? (found[0] ?? "")
          : `${names.length} files, beside ${beside}`;
      },
      mark: root,
    };
  });
});

// Its tools are handled like those of PostgreSQL; `npm run soak -- cuts` tests both.
describe.each(cutRounds > 1 ? ["MariaDB"] : [])("%s", () => {
  let server: MariadbServer;
  beforeAll(async () => {
    server = await startMariadbServer();
    await server.createDatabase("shop");
  });
  afterAll(() => server?.stop());

  keepsItsPromises(remote, async () => ({
    source: createMysqlSource({
      host: await remote.host(),
      name: "shop",
      url: server.url("shop"),
      scratchFolder: await makeFolder(),
    }),
    fill: async (word) => {
      await server.query(
        "shop",
        `CREATE OR REPLACE TABLE pages AS SELECT seq AS n, REPEAT('${word} ', 100) AS word FROM seq_1_to_20000`,
      );
    },
    read: async () => {
      const found = await server.query(
        "shop",
        "SELECT LEFT(word, 3), COUNT(*) FROM pages GROUP BY 1; SHOW DATABASES LIKE 'quarterdeck%'",
      );
      return /^(\w+)\t20000$/.exec(found.trim())?.[1] ?? found;
    },
    mark: `--port=${new URL(server.url("shop")).port}`,
  }));
});

// As above: the steps are tested one by one.
describe.each(isLongForm ? ["all databases of a MariaDB server"] : [])("%s", () => {
  const names = ["blog", "shop"];
  let server: MariadbServer;
  beforeAll(async () => {
    server = await startMariadbServer();
    for (const name of names) await server.createDatabase(name);
  });
  afterAll(() => server?.stop());

  const make = async (): Promise<Subject> => ({
    source: createMysqlServerSource({
      host: await remote.host(),
      name: "db-1",
      url: server.url(""),
      scratchFolder: await makeFolder(),
    }),
    fill: async (word) => {
      for (const name of names)
        await server.query(
          name,
          `CREATE OR REPLACE TABLE pages AS SELECT seq AS n, REPEAT('${word} ', 100) AS word FROM seq_1_to_10000`,
        );
    },
    read: async () => {
      const found = await server.query(
        null,
        "SELECT LEFT(word, 3), COUNT(*) FROM (SELECT word FROM shop.pages UNION ALL SELECT word FROM blog.pages) AS both_pages GROUP BY 1; SHOW DATABASES LIKE 'quarterdeck%'",
      );
      return /^(\w+)\t20000$/.exec(found.trim())?.[1] ?? found;
    },
    mark: `--port=${new URL(server.url("")).port}`,
  });
  keepsItsPromises(remote, make, { runsOn: false });
});

// Its runs are stored like those of PostgreSQL, and the site's folder with sudo contains such a database;
// `sqlite/remote/source.test.ts` tests what a cut leaves of its restores.
describe.each(cutRounds > 1 ? ["SQLite"] : [])("%s", () => {
  keepsItsPromises(remote, async () => {
    const folder = await makeFolder();
    return { ...sqliteIn(folder, await remote.host()), mark: folder };
  });
});
