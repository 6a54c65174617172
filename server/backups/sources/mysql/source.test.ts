import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startMariadbServer, type MariadbServer } from "../../testing/mariadb-server.ts";
import { createMysqlClient, readUrl } from "./client.ts";
import { inLongForm, isLongForm } from "../../../testing/long-form.ts";
import { makeRandom, makeSeed } from "../../../testing/random.ts";
import { soon } from "../../../testing/soon.ts";
import { SourceError } from "../source.ts";
import { createMysqlSource } from "./source.ts";
import {
  attemptOf,
  countingHost,
  everything,
  hookedHost,
  otherState,
  pictureOf,
  scratchDatabases,
  sourceOf,
  streamOf,
  takeDump,
  testHost,
} from "./testing/fixtures.ts";

let server: MariadbServer;
let scratch: string;
let url: string;
let name: string;
let count = 0;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "quarterdeck-mysql-"));
  server = await startMariadbServer();
});

afterAll(async () => {
  await server?.stop();
  await rm(scratch, { recursive: true, force: true });
});

const use = (made: string) => {
  name = made;
  url = server.url(made);
};
beforeEach(async () => {
  use(`shop_${(count += 1)}`);
  await server.createDatabase(name);
});

const database = () => name;
const expectNothingLeft = async () => {
  expect(await scratchDatabases(server)).toBe("");
  expect(await readdir(scratch)).toEqual([]);
};

describe("a rehearsal", () => {
  test("names both versions", async () => {
    const line = await sourceOf(url, scratch).rehearse(AbortSignal.timeout(20_000));
    expect(line).toMatch(/^MariaDB \d+\.\d+.* answers; mariadb-dump \d+\.\d+\.\d+\.$/);
  });

  test.each([
    [
      "a wrong password",
      () => url.replace(/:[^:@]+@/, ":no-pass@"),
      /does not accept the user or pass/,
    ],
    ["an unknown database", () => `${url}x`, /has no database shop_\d+x\. Create it/],
    ["no server", () => "mysql://a:no-pass@127.0.0.1:1/x", /cannot be reached/],
  ])("says what to do about %s", async (_, bad, words) => {
    const failing = sourceOf(bad(), scratch).rehearse(AbortSignal.timeout(20_000));
    await expect(failing).rejects.toThrow(words);
    await expect(failing).rejects.not.toThrow(/no-pass/);
    await expect(failing).rejects.toBeInstanceOf(SourceError);
  });
});

test("reports foreign keys of another database before they prevent a restore", async () => {
  await server.query(database(), "CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB");
  const source = sourceOf(url, scratch);
  const warnings = () => source.warnings?.(AbortSignal.timeout(20_000));
  expect(await warnings()).toEqual([]);
  const other = `keys_${count}`;
  await server.createDatabase(other);
  await server.query(
    other,
    `CREATE TABLE child (id INT, FOREIGN KEY (id) REFERENCES ${database()}.parent (id)) ENGINE=InnoDB`,
  );
  const reason = `Foreign keys of other databases point into ${database()} and would follow its old tables: ${other}.child. Drop them, restore, and make them again.`;
  expect(await warnings()).toEqual([`A restore would be refused: ${reason}`]);
  await expect(source.refuseRestore?.(attemptOf(7), null)).rejects.toThrow(
    `Nothing was changed: ${reason}`,
  );
});

test("foreign keys of a database that the account does not see are never broken", async () => {
  await server.query(
    database(),
    "CREATE TABLE lone (id INT PRIMARY KEY); INSERT INTO lone VALUES (1), (2); CREATE TABLE parent (id INT PRIMARY KEY); INSERT INTO parent VALUES (1), (2); CREATE TABLE child (id INT, FOREIGN KEY (id) REFERENCES parent (id))",
  );
  const hidden = `hidden_${count}`;
  const referTo = (table: string) =>
    server.query(
      hidden,
      `CREATE OR REPLACE TABLE far (id INT, FOREIGN KEY (id) REFERENCES ${database()}.${table} (id)); INSERT INTO far VALUES (1)`,
    );
  await server.createDatabase(hidden);
  await referTo("lone");
  await server.query(
    null,
    `CREATE USER blind IDENTIFIED BY 'x'; GRANT ALL ON ${database()}.* TO blind; GRANT ALL ON \`quarterdeck\\_%\`.* TO blind; GRANT SELECT ON mysql.proc TO blind`,
  );
  const blindUrl = server.url(database(), { user: "blind", password: "x" });
  const blind = sourceOf(blindUrl, scratch);
  const { content } = await takeDump(blind);
  const before = await pictureOf(server, url);
  for (const source of [blind, sourceOf(blindUrl, scratch, testHost, ["lone"])])
    await expect(source.restore(streamOf(content), attemptOf(7))).rejects.toThrow(
      `Nothing was changed: foreign keys of databases that the account doesn't see point to lone of ${database()}`,
    );
  await referTo("parent");
  await server.query(null, "GRANT PROCESS ON *.* TO blind");
  await expect(blind.restore(streamOf(content), attemptOf(7))).rejects.toThrow(
    `point into ${database()}: ${hidden} (to parent), and would follow the old tables`,
  );
  expect(await pictureOf(server, url)).toBe(before);
  await expectNothingLeft();

  // Found only at the end, because a visible foreign key refers to the table, too.
  await server.query(null, "REVOKE PROCESS ON *.* FROM blind");
  const attempt = attemptOf(7);
  await blind.restore(streamOf(content), attempt);
  expect(attempt.said.join()).toContain(
    "The restore is complete, but quarterdeck_old_7 keeps old tables to which foreign keys of other databases refer: parent.",
  );
  await server.query(hidden, "INSERT INTO far VALUES (2); DROP TABLE far");
  expect(await blind.rehearse(AbortSignal.timeout(20_000))).toContain("is restored.");
  expect(await pictureOf(server, url)).toBe(before);
  await expectNothingLeft();
});

test("a response is complete, however long: a truncated list of tables would truncate a restore", async () => {
  const client = createMysqlClient(testHost, readUrl("shop", url));
  const rows = await client.query("SELECT seq, REPEAT('ü', 60) FROM seq_1_to_40000", {
    database: database(),
    signal: AbortSignal.timeout(20_000),
  });
  expect(rows.length).toBe(40_000);
  expect(rows.at(-1)).toEqual(["40000", "ü".repeat(60)]);
});

/** Checksums of the rows by the server, independent of the dump tool. */
const checksums = "CHECKSUM TABLE parent, child, kinds, `odd ``name`, nothing, mine EXTENDED";

describe("a round trip", () => {
  test("restores everything, and removes what was created later", async () => {
    await server.query(database(), everything);
    const source = sourceOf(url, scratch);
    const before = await pictureOf(server, url);
    const checksumsBefore = await server.query(database(), checksums);
    const dumping = attemptOf(7);
    const { content, manifest } = await takeDump(source, dumping);
    expect(manifest).toMatchObject({
      kind: "database",
      tables: { parent: 3, child: 3, kinds: 3, "odd `name": 2, nothing: 0, mine: 1 },
    });
    expect(dumping.said.join()).toContain("mine (MyISAM)");
    await server.query(database(), otherState);
    expect(await pictureOf(server, url)).not.toBe(before);

    const restoring = attemptOf(7);
    await source.restore(streamOf(content), restoring);
    expect(restoring.said).toEqual([]);
    expect(await pictureOf(server, url)).toBe(before);
    expect(await server.query(database(), checksums)).toBe(checksumsBefore);
    await expectNothingLeft();
    // A plain client restores the dump, too.
    await server.query(null, `DROP DATABASE ${database()}; CREATE DATABASE ${database()}`);
    await server.query(database(), content.toString());
    expect(await pictureOf(server, url)).toBe(before);
    // Foreign keys refer to tables, and the default to the sequence, of the same database.
    await expect(
      server.query(database(), "INSERT INTO child VALUES (9, 999, NULL)"),
    ).rejects.toThrow(/foreign key/);
    await server.query(
      database(),
      "INSERT INTO kinds (d) VALUES (1); INSERT INTO parent (name) VALUES ('x')",
    );
    expect(
      await server.query(database(), "SELECT MAX(id), MAX(name) FROM parent WHERE id > 40"),
    ).toBe("42\tx!\n");
  });

  // `objects.test.ts` covers restores into a missing database, too.
  inLongForm(() => {
    test("works into a missing database", async () => {
      await server.query(database(), everything);
      const source = sourceOf(url, scratch);
      const before = await pictureOf(server, url);
      const { content } = await takeDump(source);
      await server.query(null, `DROP DATABASE ${database()}`);
      expect(await source.exists()).toBe(false);
      await source.restore(streamOf(content, 65_536), attemptOf(8));
      expect(await source.exists()).toBe(true);
      expect(await pictureOf(server, url)).toBe(before);
    });

    test("of an empty database empties the target", async () => {
      const source = sourceOf(url, scratch);
      const before = await pictureOf(server, url);
      const { content, manifest } = await takeDump(source);
      expect(manifest).toMatchObject({ kind: "database", tables: {} });
      await server.query(database(), everything);
      await source.restore(streamOf(content), attemptOf(9));
      expect(await pictureOf(server, url)).toBe(before);
      await expectNothingLeft();
    });
  });
});

test("removes a new database when the restore fails", async () => {
  const source = createMysqlSource({
    host: testHost,
    name: "shop",
    url: server.url("shop_failed"),
    scratchFolder: scratch,
    isNew: true,
  });
  const cut = streamOf(Buffer.from("create table orders (id int);\n"));
  await expect(source.restore(cut, attemptOf(9))).rejects.toThrow("cut off");
  expect(await server.query(null, "SHOW DATABASES LIKE 'shop_failed'")).toBe("");
});

test("a new database must not exist; an existing one stays, even if it is empty", async () => {
  const { content } = await takeDump(sourceOf(url, scratch));
  await server.createDatabase("shop_taken");
  const source = createMysqlSource({
    host: testHost,
    name: "shop",
    url: server.url("shop_taken"),
    scratchFolder: scratch,
    isNew: true,
  });
  expect(await source.exists()).toBe(true);
  await expect(source.restore(streamOf(content), attemptOf(9))).rejects.toThrow(
    "already has a database “shop_taken”. Nothing was changed.",
  );
  expect(await server.query(null, "SHOW DATABASES LIKE 'shop_taken'")).toBe("shop_taken\n");
  await server.query(null, "DROP DATABASE shop_taken");
});

describe("a failure leaves the target unchanged", () => {
  /** One database for all tests, because none changes it. */
  const target = "untouched";
  let good: Buffer;
  let before: string;
  beforeAll(async () => {
    use(target);
    await server.createDatabase(target);
    await server.query(target, everything);
    good = (await takeDump(sourceOf(url, scratch))).content;
    await server.query(target, otherState);
    before = await pictureOf(server, url);
  });
  beforeEach(() => use(target));
  const expectUntouched = async () => {
    expect(await pictureOf(server, url)).toBe(before);
    await expectNothingLeft();
  };

  test.each(isLongForm ? [0.3, 0.6, 0.97] : [0.6])("a dump truncated at %d", async (part) => {
    const content = good.subarray(0, good.length * part);
    await expect(sourceOf(url, scratch).restore(streamOf(content), attemptOf(3))).rejects.toThrow(
      SourceError,
    );
    await expectUntouched();
  });

  inLongForm(() => {
    test("a stream that breaks", async () => {
      const from = Readable.from(
        (function* () {
          yield good.subarray(0, 3000);
          throw new Error("the storage went away");
        })(),
      );
      await expect(sourceOf(url, scratch).restore(from, attemptOf(3))).rejects.toThrow(
        "the storage went away",
      );
      await expectUntouched();
    });
  });

  test("an object that the target refuses after the swap", async () => {
    // Succeeds in a scratch database, where events are not created; refused in the target.
    const content = Buffer.from(
      good.toString("latin1").replace("EVERY 1 DAY STARTS", "EVERY 0 DAY STARTS"),
      "latin1",
    );
    await expect(sourceOf(url, scratch).restore(streamOf(content), attemptOf(3))).rejects.toThrow(
      SourceError,
    );
    await expectUntouched();
  });

  test("a table that another connection locks", async () => {
    // Holds the lock until the restore has given up, however slow the machine is.
    const holding = server
      .query(database(), "START TRANSACTION; SELECT * FROM late; SELECT SLEEP(120)")
      .catch(() => "ended");
    const holder = () =>
      server.query(
        null,
        "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP(120)%'",
      );
    await expect.poll(holder, { interval: 20, timeout: 60_000 }).not.toBe("");
    await expect(sourceOf(url, scratch).restore(streamOf(good), attemptOf(3))).rejects.toThrow(
      /transaction that does not end/,
    );
    await server.query(null, `KILL ${await holder()}`);
    expect(await holding).toBe("ended");
    await expectUntouched();
  });

  inLongForm(() => {
    test("an abort before the swap of the tables", async () => {
      const abort = new AbortController();
      const aborting = hookedHost("RENAME TABLE", async () => abort.abort());
      await expect(
        sourceOf(url, scratch, aborting).restore(streamOf(good), attemptOf(4, abort.signal)),
      ).rejects.toThrow(/abort/i);
      expect(await sourceOf(url, scratch).settle(attemptOf(4))).toBe("unknown");
      await expectUntouched();
    });
  });

  inLongForm(() => {
    test("an abort at any moment until the end of the swap", async () => {
      const source = sourceOf(url, scratch);
      let commands = 0;
      const counting = countingHost((number) => (commands = number));
      await sourceOf(url, scratch, counting).restore(streamOf(good), attemptOf(4));
      await server.query(database(), otherState);
      for (const part of [0.1, 0.3, 0.5, 0.7, 0.8]) {
        const abort = new AbortController();
        const aborting = countingHost((number) => {
          if (number === Math.round(part * commands)) setTimeout(() => abort.abort(), 5);
        });
        await expect(
          sourceOf(url, scratch, aborting).restore(streamOf(good), attemptOf(4, abort.signal)),
        ).rejects.toThrow(/abort/i);
        expect(await source.settle(attemptOf(4))).toBe("unknown");
        await expectUntouched();
      }
    });
  });

  // A killed service, a broken stream and an abort leave the same.
  inLongForm(() => {
    test("a server that is killed while the dump is loaded", async () => {
      const source = sourceOf(url, scratch);
      const from = new PassThrough();
      from.write(good.subarray(0, 4000));
      const restoring = source.restore(from, attemptOf(5));
      restoring.catch(() => undefined);
      await expect
        .poll(() => server.query(null, "SHOW TABLES IN `quarterdeck_new_5`").catch(() => ""), {
          interval: 20,
          timeout: 60_000,
        })
        .not.toBe("");
      await server.kill();
      from.end(good.subarray(4000));
      await server.startAgain();
      await expect(restoring).rejects.toThrow(SourceError);
      await expectUntouched();
    });
  });

  // Must be the last test, because it ends with a restore.
  test("an account that may not create scratch databases", async () => {
    await server.query(
      null,
      `CREATE OR REPLACE USER small IDENTIFIED BY 'x'; GRANT ALL ON ${database()}.* TO small`,
    );
    const small = sourceOf(server.url(database(), { user: "small", password: "x" }), scratch);
    // Since MariaDB 11.3, all privileges on a database include the one to read its routines.
    const hasOwnRight = (await server.query(null, "SHOW PRIVILEGES")).includes(
      "Show Create Routine",
    );
    if (!hasOwnRight)
      await expect(small.restore(streamOf(good), attemptOf(3))).rejects.toThrow(
        "GRANT SELECT ON mysql.proc",
      );
    await expectUntouched();
    await server.query(null, "GRANT SELECT ON mysql.proc TO small");
    await expect(small.restore(streamOf(good), attemptOf(3))).rejects.toThrow(
      "GRANT ALL PRIVILEGES ON `quarterdeck\\_%`.* TO 'small'@'%';",
    );
    await expectUntouched();
    await server.query(null, "GRANT ALL PRIVILEGES ON `quarterdeck\\_%`.* TO small");
    const attempt = attemptOf(3);
    await small.restore(streamOf(good), attempt);
    expect(attempt.said.join()).toContain("they run as this account");
    expect(
      await server.query(
        null,
        `SELECT DISTINCT DEFINER FROM information_schema.VIEWS WHERE TABLE_SCHEMA='${database()}'`,
      ),
    ).toBe("small@%\n");
  });
});

const kills = Number(process.env["RESTORE_KILLS"] ?? 2);
const killSeed = makeSeed("RESTORE_SEED");

// In `npm test`, `restore-tables.test.ts` kills a service, and other tests end restores at the steps that matter.
inLongForm(() => {
  test(
    `a service that is killed during a restore leaves the old or the new content, complete, ${kills} times (RESTORE_SEED=${killSeed})`,
    { timeout: 60_000 + kills * 30_000 },
    async () => {
      await server.query(database(), everything);
      const source = sourceOf(url, scratch);
      const fresh = await pictureOf(server, url);
      const { content } = await takeDump(source);
      const file = join(scratch, "dump.sql");
      await writeFile(file, content);
      await server.query(database(), otherState);
      const old = await pictureOf(server, url);
      let commands = 0;
      await sourceOf(
        url,
        scratch,
        countingHost((number) => (commands = number)),
      ).restore(streamOf(content), attemptOf(6));
      await server.query(database(), otherState);
      const random = makeRandom(killSeed);
      let restored = 0;
      for (let round = 0; round < kills; round += 1) {
        // Spreads the kills over the whole run, including its first and its last command.
        const killAt = 1 + Math.round((round * (commands - 1)) / (kills - 1));
        const delayMs = round % 2 === 0 ? 0 : 1 + random() * 30;
        const child = fork(
          join(import.meta.dirname, "testing/restore-child.ts"),
          [url, scratch, file, `${killAt}`, `${delayMs}`],
          { stdio: "ignore" },
        );
        const [, signal]: unknown[] = await once(child, "exit");
        // A delayed kill may come after the end.
        if (delayMs === 0 && round < kills - 1) expect(signal).toBe("SIGKILL");
        const state = await source.settle(attemptOf(6));
        const picture = await pictureOf(server, url);
        const isNew = picture === fresh;
        if (!isNew) expect(picture).toBe(old);
        if (state !== "unknown") expect(state).toBe(isNew ? "restored" : "as it was");
        expect(await scratchDatabases(server)).toBe("");
        expect(await readdir(scratch)).toEqual(["dump.sql"]);
        if (!isNew) continue;
        restored += 1;
        await server.query(database(), otherState);
      }
      // Kills before and after the swap occurred.
      expect(restored).toBeGreaterThan(0);
      expect(restored).toBeLessThan(kills);
      await rm(file);
    },
  );
});

describe("a dump", () => {
  test("of versioned tables reports that their history is omitted", async () => {
    await server.query(
      database(),
      "CREATE TABLE prices (id INT PRIMARY KEY, price INT) WITH SYSTEM VERSIONING; INSERT INTO prices VALUES (1, 1); UPDATE prices SET price = 2",
    );
    const attempt = attemptOf(2);
    const { manifest } = await takeDump(sourceOf(url, scratch), attempt);
    expect(manifest).toMatchObject({ kind: "database", tables: { prices: 1 } });
    expect(attempt.said.join()).toMatch(/without their earlier rows .*: prices\./);
  });

  inLongForm(() => {
    test("fails if the server is killed in the middle of it", async () => {
      await server.query(
        database(),
        "CREATE TABLE big (t LONGTEXT); INSERT INTO big SELECT REPEAT('x', 100000) FROM seq_1_to_300",
      );
      let isKilled = false;
      const into = new Writable({
        async write(_, __, done) {
          if (!isKilled) {
            isKilled = true;
            await server.kill();
          }
          done();
        },
      });
      into.on("error", () => undefined);
      await expect(sourceOf(url, scratch).dump(into, attemptOf(2))).rejects.toThrow(
        /connection to .* was lost/,
      );
      expect(into.destroyed).toBe(true);
      await server.startAgain();
    });
  });

  test("ends on abort", async () => {
    const abort = new AbortController();
    await server.query(
      database(),
      "CREATE TABLE big (t LONGTEXT); INSERT INTO big SELECT REPEAT('x', 100000) FROM seq_1_to_300",
    );
    const into = new Writable({
      // Never accepts more, like a storage that hangs.
      write: () => abort.abort(),
    });
    into.on("error", () => undefined);
    await expect(sourceOf(url, scratch).dump(into, attemptOf(2, abort.signal))).rejects.toThrow(
      /abort/i,
    );
  });
});

describe("a drill", () => {
  test("passes, leaves nothing, and reports a count that differs", async () => {
    await server.query(database(), everything);
    const source = sourceOf(url, scratch);
    const before = await pictureOf(server, url);
    const { content, manifest } = await takeDump(source);
    expect(await source.drill(streamOf(content), manifest, attemptOf(2))).toBe(
      "6 tables with 12 rows restored exactly, by the count and the checksum of each table.",
    );
    await expectNothingLeft();
    if (manifest.kind !== "database") throw new Error("The manifest is of another kind.");
    const wrong = { ...manifest, tables: { ...manifest.tables, parent: 4 } };
    await expect(source.drill(streamOf(content), wrong, attemptOf(2))).rejects.toThrow(
      /parent has 3 rows and should have 4/,
    );
    await expect(
      source.drill(streamOf(content.subarray(0, 5000)), manifest, attemptOf(2)),
    ).rejects.toThrow(SourceError);
    await expectNothingLeft();
    const abort = new AbortController();
    const from = new PassThrough();
    from.write(content.subarray(0, 5000));
    const drilling = source.drill(from, manifest, attemptOf(2, abort.signal)).then(
      () => "It did not fail.",
      (error: Error) => error.message,
    );
    await soon(async () => expect(await scratchDatabases(server)).not.toBe(""));
    abort.abort(new Error("enough"));
    expect(await drilling).toContain("enough");
    await expectNothingLeft();
    expect(await pictureOf(server, url)).toBe(before);
  });
});
