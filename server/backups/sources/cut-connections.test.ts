// What a connection that is cut leaves, at any moment: nothing stored, nothing half restored, nothing running on the server.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Host } from "../../hosts/host.ts";
import { makeFolder } from "../../testing/machine.ts";
import { createLocalStorage } from "../../storage/local.ts";
import { storeDump } from "../pipeline.ts";
import { createCollector } from "../testing/collector.ts";
import { startMariadbServer, type MariadbServer } from "../testing/mariadb-server.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../testing/postgres-server.ts";
import {
  cutInRounds,
  cutsLimitMs,
  cutWords,
  failureOf,
  measureMs,
  nothingRuns,
  runningTools,
} from "../../ssh/testing/cuts.ts";
import { createRemoteServer } from "../../ssh/testing/remote-server.ts";
import { createRemoteFolderSource } from "./folder/remote/source.ts";
import { createMysqlSource } from "./mysql/source.ts";
import { createPostgresSource } from "./postgres/source.ts";
import { createRemoteSqliteSource } from "./sqlite/remote/source.ts";
import type { Attempt, Source } from "./source.ts";

const remote = createRemoteServer();
beforeEach(() => remote.responds());

type Subject = {
  source: Source;
  /** Makes the content say a word everywhere. */
  fill(word: string): Promise<void>;
  /** What it says everywhere, or something else. */
  read(): Promise<string>;
  /** What tells a tool of this subject from all other processes of the machine: of its arguments, environment or files. */
  mark: string;
};

const attemptOf = (signal = new AbortController().signal): Attempt => ({
  id: 7,
  say: () => undefined,
  signal,
});

/** At the next contact, what could not be put in order when the connection was cut. */
async function putsInOrder(source: Source): Promise<void> {
  await remote.responds();
  await source.rehearse(AbortSignal.timeout(60_000));
}

/**
 * SQLite writes the header of a journal last, and changes the database after that. One without is of a transaction that
 * changed nothing, and stays for the next writer to overwrite.
 * @see https://www.sqlite.org/lockingv3.html#hot_journals
 */
const isUnbegunJournal = async (path: string): Promise<boolean> =>
  path.endsWith("-journal") && ((await readFile(path))[0] ?? 0) === 0;

function keepsItsPromises(make: () => Promise<Subject>): void {
  test(
    "a run that is cut fails with words, stores nothing and leaves nothing running",
    { timeout: cutsLimitMs },
    async () => {
      const { source, fill, read, mark } = await make();
      await fill("old");
      const folder = await makeFolder();
      const storage = createLocalStorage({ path: folder });
      const run = async () => {
        const { signal } = new AbortController();
        const compressed = (await source.compressed?.(signal)) ?? null;
        return storeDump({
          storage,
          key: "a/1/b",
          dump: (into, ending) => (compressed ?? source).dump(into, attemptOf(ending)),
          compressed,
          signal,
          onProgress: () => undefined,
        });
      };
      const lengthMs = await measureMs(run);
      await rm(join(folder, "a"), { recursive: true });
      await cutInRounds(remote, {
        lengthMs,
        work: () => failureOf(run()),
        async check(failure) {
          if (failure === null) await storage.remove("a/1/b");
          else expect(failure).toMatch(cutWords);
          const files = await readdir(folder, { recursive: true });
          expect(files.filter((name) => /b/.test(name))).toEqual([]);
          await nothingRuns(mark);
        },
      });
      await putsInOrder(source);
      expect(await read()).toBe("old");
    },
  );

  test(
    "a restore that is cut leaves the old content or the new one, whole, and nothing running",
    { timeout: cutsLimitMs },
    async () => {
      const { source, fill, read, mark } = await make();
      await fill("new");
      const { into, content } = createCollector();
      await source.dump(into, attemptOf());
      const restore = () => source.restore(Readable.from([content()]), attemptOf());
      const lengthMs = await measureMs(restore);
      expect(await read()).toBe("new");
      await cutInRounds(remote, {
        lengthMs,
        prepare: () => fill("old"),
        work: () => failureOf(restore()),
        async check(failure) {
          if (failure !== null) expect(failure).toMatch(cutWords);
          await nothingRuns(mark);
          await putsInOrder(source);
          const word = await read();
          if (failure === null) expect(word).toBe("new");
          else expect(["old", "new"]).toContain(word);
        },
      });
    },
  );

  test("a run that is canceled ends its tool on the server", async () => {
    const { source, fill, mark } = await make();
    await fill("old");
    const controller = new AbortController();
    const { into, begun } = createCollector(new Promise(() => undefined));
    const running = failureOf(source.dump(into, attemptOf(controller.signal)));
    const early = running.then((failure) => {
      throw new Error(`It ended before it had begun: ${failure ?? "with success"}`);
    });
    await Promise.race([begun, early]);
    expect(await runningTools(mark)).not.toEqual([]);
    controller.abort(new Error("Canceled by ops."));
    expect(await running).toBe("Canceled by ops.");
    await nothingRuns(mark);
  }, 60_000);
}

describe.skipIf(!hasPostgresServer)("PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgresServer();
    await server.createDatabase("shop");
    await server.query("shop", "create table pages (n int, word text)");
  });
  afterAll(() => server?.stop());

  keepsItsPromises(async () => ({
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

describe("a site's folder", () => {
  const files = 500;
  keepsItsPromises(async () => {
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

describe("MariaDB", () => {
  let server: MariadbServer;
  beforeAll(async () => {
    server = await startMariadbServer();
    await server.createDatabase("shop");
  });
  afterAll(() => server?.stop());

  keepsItsPromises(async () => ({
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
        "SELECT LEFT(word, 3), COUNT(*) FROM pages GROUP BY 1",
      );
      return /^(\w+)\t20000$/.exec(found.trim())?.[1] ?? found;
    },
    mark: `--port=${new URL(server.url("shop")).port}`,
  }));
});

describe("SQLite", () => {
  keepsItsPromises(async () => {
    const folder = await makeFolder();
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
      source: createRemoteSqliteSource({ host: await remote.host(), name: "shop", path }),
      fill: async (word) => {
        ask("create table if not exists pages (n integer, word text)");
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
      mark: folder,
    };
  });
});
