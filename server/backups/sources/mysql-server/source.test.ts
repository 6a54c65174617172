import { readdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Host } from "../../../hosts/host.ts";
import { createRemoteServer } from "../../../ssh/testing/remote-server.ts";
import { inLongForm, isLongForm } from "../../../testing/long-form.ts";
import { makeFolder } from "../../../testing/machine.ts";
import { createCollector } from "../../testing/collector.ts";
import { startMariadbServer, type MariadbServer } from "../../testing/mariadb-server.ts";
import { createMysqlSource } from "../mysql/source.ts";
import {
  attemptOf,
  everything,
  pictureOf,
  scratchDatabases,
  testHost,
} from "../mysql/testing/fixtures.ts";
import { tablesIn } from "../whole-server/names.ts";
import { createDatabasePart } from "../whole-server/part.ts";
import { createMysqlServerSource } from "./source.ts";

const odd = 'a.b `c\' "ü" $1';
const quoted = (name: string) => `\`${name.replaceAll("`", "``")}\``;
const oddTable = `${quoted(odd)}.\`t\`\`'\``;
const databases = ["Shop", odd, "blog", "full", "shop"];
const never = new AbortController().signal;
const remote = createRemoteServer();

/** Simulates a kill at the first script that contains `words`: before the server gets it, or after it has run. */
function endingHost(words: string, isAfter: boolean): Host {
  let isGone = false;
  return {
    ...testHost,
    async run(command) {
      if (isGone) throw new Error("gone");
      if (command.isSmall !== true || command.input === undefined) return testHost.run(command);
      const script = await buffer(command.input);
      const run = () => testHost.run({ ...command, input: Readable.from([script]) });
      if (!script.includes(words)) return run();
      isGone = true;
      if (isAfter) await run();
      throw new Error("gone");
    },
  };
}

describe("all databases of a MariaDB server", () => {
  let server: MariadbServer;
  let folder: string;

  const sourceOn = (host: Host = testHost, url = server.url("")) =>
    createMysqlServerSource({ host, name: "db-1", url, scratchFolder: folder });
  const dump = async (source = sourceOn()) => {
    const { into, content } = createCollector();
    const attempt = attemptOf(7);
    await source.rehearse(never);
    const manifest = await source.dump(into, attempt);
    return { manifest, archive: content(), said: attempt.said };
  };
  const from = (archive: Buffer) => Readable.from([archive], { objectMode: false });
  const accounts = () =>
    server.query(
      null,
      "SELECT User, Host, is_role, authentication_string, default_role, plugin FROM mysql.user WHERE User NOT IN ('root', 'tester') ORDER BY 1, 2; SELECT * FROM mysql.db ORDER BY 1, 2, 3; SELECT Host, Db, User, Table_name, Table_priv, Column_priv FROM mysql.tables_priv ORDER BY 1, 2, 3, 4; SELECT Host, Db, User, Routine_name, Proc_priv FROM mysql.procs_priv ORDER BY 1, 2, 3, 4; SELECT * FROM mysql.roles_mapping WHERE User NOT IN ('root', 'tester') ORDER BY 1, 2, 3",
    );
  /** Returns an outline, enough to detect the changes that the tests make to the server. */
  const outline = () => {
    const own = (schema: string) =>
      `${schema} NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')`;
    return server.query(
      null,
      `SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE ${own("TABLE_SCHEMA")} ORDER BY BINARY TABLE_SCHEMA, 2;
       SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION, DEFINER FROM information_schema.VIEWS WHERE ${own("TABLE_SCHEMA")} ORDER BY 1, 2;
       SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_DEFINITION FROM information_schema.ROUTINES WHERE ${own("ROUTINE_SCHEMA")} ORDER BY 1, 2;
       SELECT * FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE ${own("CONSTRAINT_SCHEMA")} ORDER BY 2, 3;
       CHECKSUM TABLE shop.orders, ${oddTable}, blog.posts, Shop.orders`,
    );
  };
  /** Dumps only some databases, because each dump is slow; the outline covers the others. */
  const content = async () => {
    const pictures = [await outline()];
    for (const name of isLongForm ? databases : [odd, "full"])
      pictures.push(await pictureOf(server, server.url(name)));
    return pictures;
  };
  const state = async () => `${await outline()}${await accounts()}`;
  let withoutFull: ReturnType<typeof dumpWithoutFull> | null = null;
  /** The remaining tests need less content. */
  const dumpWithoutFull = async () => {
    await server.query(null, "DROP DATABASE full");
    return { ...(await dump()), dumped: await state() };
  };
  const smaller = () => (withoutFull ??= dumpWithoutFull());
  const dropAccounts = () =>
    server.query(null, "DROP USER app@'%', 'odd`''user'@'10.%'; DROP ROLE reader, writer");
  const expectNothingLeft = async () => expect(await scratchDatabases(server)).toBe("");

  beforeAll(async () => {
    folder = await makeFolder(afterAll);
    server = await startMariadbServer();
    for (const name of databases)
      await server.query(null, `CREATE DATABASE ${quoted(name)} CHARACTER SET utf8mb4`);
    await server.query(
      null,
      "CREATE USER app@'%' IDENTIFIED BY 'secret''s' WITH MAX_USER_CONNECTIONS 7; CREATE USER 'odd`''user'@'10.%' IDENTIFIED BY 'x' REQUIRE SSL ACCOUNT LOCK; CREATE ROLE reader; CREATE ROLE writer;",
    );
    await server.query("full", everything);
    await server.query(
      "shop",
      "CREATE TABLE orders (id INT PRIMARY KEY, total FLOAT); INSERT INTO orders VALUES (1, 0.12345678), (2, 2); CREATE FUNCTION vat(x INT) RETURNS INT RETURN x * 2; CREATE PROCEDURE stays() SELECT 1; GRANT EXECUTE ON PROCEDURE stays TO tester@'127.0.0.1'",
    );
    await server.query(
      "Shop",
      "CREATE TABLE orders (id INT PRIMARY KEY); INSERT INTO orders VALUES (7)",
    );
    await server.query(
      odd,
      "CREATE TABLE `t``'` (id INT PRIMARY KEY, o INT, FOREIGN KEY (o) REFERENCES shop.orders (id)); INSERT INTO `t``'` VALUES (1, 2); SET foreign_key_checks=0; CREATE TABLE orphan (id INT, FOREIGN KEY (id) REFERENCES gone (id))",
    );
    await server.query(
      null,
      "GRANT SELECT ON shop.* TO reader; GRANT SELECT ON shop.* TO app@'%'; GRANT reader TO writer; GRANT SELECT (id), INSERT ON shop.orders TO app@'%' WITH GRANT OPTION; GRANT ALL ON `a.b ``c' \"ü\" $1`.* TO app@'%'; GRANT SELECT ON blog.* TO app@'%'; GRANT EXECUTE ON FUNCTION shop.vat TO app@'%'; GRANT writer TO app@'%'; SET DEFAULT ROLE writer FOR app@'%'; GRANT SELECT ON blog.* TO PUBLIC; GRANT PROCESS ON *.* TO 'odd`''user'@'10.%'",
    );
    await server.query(
      "blog",
      "CREATE DEFINER=app@'%' VIEW totals AS SELECT o.id, shop.vat(o.id) AS vat, k.id AS other FROM shop.orders o JOIN `a.b ``c' \"ü\" $1`.`t``'` k ON k.o = o.id; CREATE TABLE posts (title TEXT); INSERT INTO posts VALUES ('first')",
    );
    await server.query("Shop", "CREATE VIEW loop_view AS SELECT * FROM blog.totals");
  });
  afterAll(() => server?.stop());

  test("are restored exactly, with their accounts, and others stay unchanged", async () => {
    const before = [await content(), await accounts()];
    const { manifest, archive, said } = await dump();
    // The test's server does not resolve host names, but has an account with one.
    expect(said.filter((line) => !line.startsWith("full: "))).toEqual([
      expect.stringContaining("because the server ignores them (skip_name_resolve)"),
    ]);
    expect(manifest).toMatchObject({ databases });
    if (manifest.kind !== "database") throw new Error("not of databases");
    expect(tablesIn("blog", manifest.tables)).toEqual({ posts: 1 });
    expect(await sourceOn().countRows?.(never)).toEqual(manifest.tables);
    expect(archive.includes("secret")).toBe(false);

    const drill = attemptOf(7);
    expect(await sourceOn().drill(from(archive), manifest, drill)).toBe(
      "5 databases restored, one after the other. Accounts were not: those of the server were used.",
    );
    expect(drill.said).toContain("Views that read other databases were not tried: totals.");
    expect(drill.said).toContain(
      "shop: 1 table with 2 rows restored exactly, by the count and the checksum of each table.",
    );
    await expectNothingLeft();

    await server.query(null, "CREATE DATABASE later");
    await dropAccounts();
    await server.query(null, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM PUBLIC");
    await server.query(
      null,
      "DROP DATABASE blog; DROP DATABASE full; DELETE FROM `a.b ``c' \"ü\" $1`.`t``'`; DELETE FROM shop.orders; DROP FUNCTION shop.vat; CREATE TABLE shop.newer (id INT); CREATE USER app2@'%' IDENTIFIED BY 'y'",
    );
    const restore = attemptOf(7);
    await sourceOn().restore(from(archive), restore);
    await expectNothingLeft();
    expect(restore.said).toContain(
      "Created the accounts `app`@`%`, `odd``'user`@`10.%`, `reader`, `writer`.",
    );
    expect(restore.said).toContain(
      "Left as they are, because the backup doesn't hold them: later.",
    );
    await server.query(null, "DROP DATABASE later; DROP USER app2@'%'");
    expect([await content(), await accounts()]).toEqual(before);
    // The remaining tests have accounts without privileges.
    await server.query(null, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM PUBLIC");
  });

  inLongForm(() => {
    test("a single one is restored, in its place or as a new one", async () => {
      const { manifest, archive } = await smaller();
      const partInto = (database: string, part: string, isNew = false) =>
        createDatabasePart(
          createMysqlSource({
            host: testHost,
            name: "db-1",
            url: server.url(database),
            scratchFolder: folder,
            isNew,
          }),
          part,
        );
      const before = await pictureOf(server, server.url("blog"));
      await server.query(
        "blog",
        "DROP VIEW totals; DELETE FROM posts; CREATE TABLE later (id INT)",
      );
      await server.query("Shop", "DELETE FROM orders");
      await partInto("blog", "blog").restore(from(archive), attemptOf(7), manifest);
      expect(await pictureOf(server, server.url("blog"))).toBe(before);
      await partInto("copy", "Shop", true).restore(from(archive), attemptOf(7), manifest);
      expect(await server.query("copy", "SELECT * FROM orders")).toBe("7\n");
      expect(await server.query("Shop", "SELECT COUNT(*) FROM orders")).toBe("0\n");
      await expect(
        partInto("shop", "nowhere").restore(from(archive), attemptOf(7), manifest),
      ).rejects.toThrow("Nothing was changed: the backup holds no database “nowhere”.");
      await server.query(null, "DROP DATABASE copy");
      await expectNothingLeft();
    });
  });

  inLongForm(() => {
    test("an interrupted backup or restore changes nothing or everything", async () => {
      const { archive, dumped: restored } = await smaller();
      await dropAccounts();
      await server.query(
        null,
        `DROP DATABASE Shop; UPDATE shop.orders SET total = 9; CREATE TABLE shop.newer (id INT); DELETE FROM ${oddTable}`,
      );
      const before = await state();
      const is = async (expected: string) => {
        await expectNothingLeft();
        expect(await readdir(folder)).toEqual([]);
        expect(await state()).toBe(expected);
      };
      await expect(
        sourceOn().restore(from(archive.subarray(0, archive.length - 2000)), attemptOf(7)),
      ).rejects.toThrow(/cut off/);
      await is(before);
      if (isLongForm) {
        const ending = new AbortController();
        const restoring = sourceOn().restore(from(archive), {
          ...attemptOf(7, ending.signal),
          say: (said) => said.startsWith("Loaded blog") && ending.abort(new Error("Canceled.")),
        });
        await expect(restoring).rejects.toThrow("Canceled.");
        await is(before);
      }
      for (const [words, isAfter, found] of [
        ["CREATE USER IF NOT EXISTS", true, "as it was"],
        ...(isLongForm ? [["RENAME TABLE", false, "as it was"] as const] : []),
        ["RENAME TABLE", true, "restored"],
      ] as const) {
        const ended = sourceOn(endingHost(words, isAfter)).restore(from(archive), attemptOf(7));
        await expect(ended, words).rejects.toThrow("gone");
        expect(await sourceOn().settle(attemptOf(7)), words).toBe(found);
        await is(found === "restored" ? restored : before);
      }
      expect(await sourceOn().settle(attemptOf(7))).toBe("unknown");
    });
  });

  test("an account without all privileges reports what its backups lack, and restores single databases only", async () => {
    await server.query(null, "CREATE USER few@'%' IDENTIFIED BY 'few'");
    const source = sourceOn(testHost, server.url("", { user: "few", password: "few" }));
    await expect(source.rehearse(never)).rejects.toThrow(
      "The account 'few'@'%' sees no database, and may not list those on which it has no right, so the backup would be empty. Allow it with: GRANT SHOW DATABASES ON *.* TO 'few'@'%';",
    );
    await server.query(null, "GRANT SELECT ON `Shop`.* TO few@'%'");
    await expect(source.rehearse(never)).rejects.toThrow(
      /no TRIGGER, no EVENT on Shop, .*: GRANT .*TRIGGER, EVENT ON/,
    );
    await server.query(null, "GRANT SHOW VIEW, TRIGGER, EVENT, EXECUTE ON `Shop`.* TO few@'%'");
    await expect(source.rehearse(never)).rejects.toThrow("GRANT EXECUTE ON `shop`.* TO 'few'@'%';");
    await server.query("Shop", "DROP VIEW loop_view");
    expect(await source.rehearse(never)).toMatch(
      /with 1 database; .* The backup may lack databases: 'few'@'%' sees only those on which it has a right\. Allow it with: GRANT SHOW DATABASES .* The backup lacks the accounts of the server, .* GRANT SELECT ON mysql\.\* .* A restore of the whole server is refused, because 'few'@'%' has not all rights\. .* Drills are, too\./,
    );
    // Privileges on scratch databases are not privileges on all databases.
    await server.query(null, "GRANT ALL ON `quarterdeck\\_%`.* TO few@'%'");
    expect(await source.rehearse(never)).toMatch(
      /The backup may lack databases: .* because 'few'@'%' has not all rights\. .* one by one\.$/,
    );
    const { archive, manifest } = await dump(source);
    expect(manifest).toMatchObject({ databases: ["Shop"] });
    expect(archive.includes("CREATE USER")).toBe(false);
    for (const refused of [
      () => source.refuseRestore?.(attemptOf(7), manifest),
      () => source.restore(from(archive), attemptOf(7), manifest),
    ])
      await expect(refused()).rejects.toThrow(
        "Nothing was changed. A restore of the whole server is refused, because 'few'@'%' has not all rights.",
      );
    await server.query(null, "DROP USER few@'%'");
    await expectNothingLeft();
  });

  inLongForm(() => {
    test("on a server over SSH are dumped by its own tools, which report a database that is dropped meanwhile", async () => {
      await server.query(
        null,
        "DROP DATABASE IF EXISTS full; DROP VIEW blog.totals; DROP VIEW IF EXISTS Shop.loop_view",
      );
      // Holds the first output until two databases are dropped.
      const dropped = Promise.withResolvers<void>();
      const { into, begun, content } = createCollector(dropped.promise);
      const attempt = attemptOf(7);
      const dumping = sourceOn(await remote.host()).dump(into, attempt);
      await begun;
      await server.query(
        null,
        `SET foreign_key_checks = 0; DROP DATABASE ${quoted(odd)}; DROP DATABASE shop`,
      );
      dropped.resolve();
      expect(await dumping).toMatchObject({ databases: ["Shop", "blog"] });
      expect(attempt.said).toContain(
        "The database shop was dropped during the run, and is not in the backup.",
      );
      expect(content().length).toBeGreaterThan(1000);
    });
  });

  inLongForm(() => {
    test("of a server without databases consist of its accounts, and restore them", async () => {
      await server.query(
        null,
        `SET foreign_key_checks = 0; ${databases.map((name) => `DROP DATABASE IF EXISTS ${quoted(name)};`).join("")}`,
      );
      await server.query(null, "GRANT SELECT ON blog.* TO PUBLIC");
      const { manifest, archive } = await dump();
      expect(manifest).toMatchObject({ databases: [], tables: {} });
      expect(await sourceOn().isEmpty?.(never)).toBe(true);
      const before = await accounts();
      await dropAccounts();
      const drill = await sourceOn().drill(from(archive), manifest, attemptOf(7));
      expect(drill).toContain("0 databases restored");
      await server.query(
        null,
        "REVOKE SELECT ON blog.* FROM PUBLIC; GRANT INSERT ON blog.* TO PUBLIC",
      );
      const restore = attemptOf(7);
      await sourceOn().restore(from(archive), restore);
      expect(restore.said).toContain(
        "Not granted, because PUBLIC keeps the privileges that it has on this server: GRANT SELECT ON `blog`.* TO PUBLIC.",
      );
      const named = (text: string) =>
        text.split("\n").filter((line) => /^(?:app|odd|reader|writer)/.test(line));
      expect(named(await accounts())).toEqual(named(before));
    });
  });
});
