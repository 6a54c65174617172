import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMariadbServer, type MariadbServer } from "../../testing/mariadb-server.ts";
import { createMysqlServerSource } from "../mysql-server/source.ts";
import { serverNamesOf } from "../mysql-server/plan.ts";
import { readServerUrl } from "./client.ts";
import { readGrants } from "./grants.ts";
import { writePlan } from "./plan.ts";
import {
  attemptOf,
  hookedHost,
  scratchDatabases,
  sourceOf,
  streamOf,
  takeDump,
  testHost,
} from "./testing/fixtures.ts";
import { SourceError } from "../source.ts";
import { inLongForm, casesOf } from "../../../testing/long-form.ts";
import { toError } from "../../../to-error.ts";

const oneOfEach = `
CREATE SEQUENCE numbers; CREATE TABLE parent (id INT PRIMARY KEY DEFAULT NEXTVAL(numbers)); CREATE TABLE other (id INT);
INSERT INTO parent VALUES (1);
CREATE FUNCTION twice(x INT) RETURNS INT DETERMINISTIC RETURN x * 2; CREATE PROCEDURE fill() SELECT 1;
CREATE VIEW seen AS SELECT twice(id) FROM parent;
CREATE TRIGGER shout BEFORE INSERT ON parent FOR EACH ROW SET NEW.id = NEW.id;
CREATE EVENT tidy ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 00:00:00' DO SELECT 1;`;

describe("grants", () => {
  const of = (...lines: string[]) => readGrants(lines, "`app`@`%`");

  test.each<[string, string[], string, boolean]>([
    ["on all", ["GRANT SELECT, TRIGGER ON *.* TO `app`@`%` WITH GRANT OPTION"], "TRIGGER", true],
    ["of all", ["GRANT ALL PRIVILEGES ON `shop`.* TO `app`@`%`"], "EVENT", true],
    ["on another database", ["GRANT SELECT ON `shops`.* TO `app`@`%`"], "SELECT", false],
    ["on a table", ["GRANT SELECT ON `shop`.`users` TO `app`@`%`"], "SELECT", false],
    ["on columns", ["GRANT SELECT (`a`, `b`), INSERT ON `shop`.* TO `app`@`%`"], "SELECT", false],
    ["to a role that is active", ["GRANT SELECT ON `shop`.* TO `reader`"], "SELECT", true],
    ["to a role that is not", ["GRANT `reader` TO `app`@`%`"], "SELECT", false],
    ["to everybody", ["GRANT SELECT ON `shop`.* TO PUBLIC"], "SELECT", true],
    ["by a pattern", ["GRANT SELECT ON `sh_p%`.* TO `app`@`%`"], "SELECT", true],
    ["by another pattern", ["GRANT SELECT ON `sh\\_p`.* TO `app`@`%`"], "SELECT", false],
    [
      "by a name as in a routine",
      ["GRANT EXECUTE ON PROCEDURE `shop`.`x` TO `app`@`%`"],
      "EXECUTE",
      false,
    ],
    [
      "by a pattern that a more specific one hides",
      ["GRANT SELECT, TRIGGER ON `sh%`.* TO `app`@`%`", "GRANT SELECT ON `shop`.* TO `app`@`%`"],
      "TRIGGER",
      false,
    ],
    [
      "on all, taken back for this database",
      ["GRANT SELECT ON *.* TO `app`@`%`", "REVOKE SELECT ON `shop`.* FROM `app`@`%`"],
      "SELECT",
      false,
    ],
  ])("%s", (_, lines, privilege, expected) => {
    expect(of(...lines).has(privilege, "shop")).toBe(expected);
  });

  test("a new grant uses the pattern of the existing one that applies, because it would hide that otherwise", () => {
    expect(of().ruleFor("my_shop")).toBe("my\\_shop");
    expect(of("GRANT SELECT ON `my_shop`.* TO `app`@`%`").ruleFor("my_shop")).toBe("my_shop");
    expect(of("GRANT SELECT ON `my\\_%`.* TO `app`@`%`").ruleFor("my_shop")).toBe("my\\_%");
    expect(of("GRANT SELECT ON `my\\_%`.* TO `role`").ruleFor("my_shop")).toBe("my\\_shop");
  });
});

describe("an account of MariaDB", () => {
  let server: MariadbServer;
  let scratch: string;
  let all: Awaited<ReturnType<typeof takeDump>>;
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), "quarterdeck-mysql-"));
    server = await startMariadbServer(["--log-bin"]);
    await server.createDatabase("shop_1");
    await server.query("shop_1", oneOfEach);
    all = await takeDump(sourceOf(server.url("shop_1"), scratch));
  });
  afterAll(async () => {
    await server?.stop();
    await rm(scratch, { recursive: true, force: true });
  });

  const reading = "SELECT, SHOW VIEW, TRIGGER, EVENT, EXECUTE";
  let accounts = 0;
  const makeAccount = async (grants: (account: string) => string) => {
    const user = `account_${(accounts += 1)}`;
    await server.query(null, `CREATE USER ${user} IDENTIFIED BY 'x'; ${grants(user)}`);
    return { user, source: sourceOf(server.url("shop_1", { user, password: "x" }), scratch) };
  };
  const rehearse = (source: ReturnType<typeof sourceOf>) =>
    source.rehearse(AbortSignal.timeout(60_000));
  const failureOf = async (source: ReturnType<typeof sourceOf>) => {
    const error: unknown = await rehearse(source).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SourceError);
    return toError(error).message;
  };

  const outline = () =>
    server.query(
      null,
      "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop_1' ORDER BY 1; SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'shop_1'; SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'shop_1' ORDER BY 1; SELECT EVENT_NAME FROM information_schema.EVENTS",
    );

  const onProc = (account: string) => `GRANT SELECT ON mysql.proc TO ${account};`;
  const cases: Record<string, [RegExp, (account: string) => string]> = {
    "sees one table of two": [
      /has no SELECT, no SHOW VIEW, no TRIGGER, no EVENT on shop_1, so its tables, views and sequences could/,
      (account) => `GRANT SELECT ON shop_1.parent TO ${account}; ${onProc(account)}`,
    ],
    "sees no views": [
      /has no SHOW VIEW on shop_1, so its views could be missing/,
      (account) => `GRANT SELECT, TRIGGER, EVENT ON shop_1.* TO ${account}; ${onProc(account)}`,
    ],
    "sees no triggers": [
      /has no TRIGGER on shop_1, so its triggers could be missing/,
      (account) => `GRANT SELECT, SHOW VIEW, EVENT ON shop_1.* TO ${account}; ${onProc(account)}`,
    ],
    "sees no triggers because a narrower rule hides a wider one": [
      /has no SHOW VIEW, no TRIGGER, no EVENT on shop_1/,
      (account) =>
        `GRANT ALL ON \`shop\\_%\`.* TO ${account}; GRANT SELECT ON shop_1.* TO ${account}; ${onProc(account)}`,
    ],
    "sees no events": [
      /has no EVENT on shop_1, so its events could be missing/,
      (account) => `GRANT SELECT, SHOW VIEW, TRIGGER ON shop_1.* TO ${account}; ${onProc(account)}`,
    ],
    "sees no routines": [
      /may not see the routines of shop_1/,
      (account) => `GRANT SELECT, SHOW VIEW, TRIGGER, EVENT ON shop_1.* TO ${account}`,
    ],
    "sees what routines are called, not what they do": [
      /may not read the routines fill, twice of shop_1/,
      (account) => `GRANT ${reading} ON shop_1.* TO ${account}`,
    ],
    "has a role that is not active": [
      /has no SELECT/,
      (account) =>
        `CREATE ROLE sleeping; GRANT ${reading} ON shop_1.* TO sleeping; GRANT sleeping TO ${account}; ${onProc(account)}`,
    ],
  };
  /** Cases of `npm test`: a privilege on the whole database, and routines, whose privileges are checked differently. `grants` has all. */
  const few = [
    "sees one table of two",
    "sees no routines",
    "sees what routines are called, not what they do",
  ];
  test.for(casesOf(cases, few))(
    "that %s is refused, and accepted after following the message",
    async ([, [words, grants]]) => {
      const { source } = await makeAccount(grants);
      expect(await failureOf(source)).toMatch(words);
      let outcome = "";
      // One grant may reveal that another one is needed.
      for (let round = 0; round < 4 && !outcome.startsWith("MariaDB"); round += 1) {
        outcome = await rehearse(source).catch((error: Error) => error.message);
        const cure = / Allow it with: (GRANT .*;)$/.exec(outcome)?.[1];
        if (cure !== undefined) await server.query(null, cure);
      }
      expect(outcome).toMatch(/^MariaDB/);
      const { content, manifest } = await takeDump(source);
      expect(manifest).toEqual(all.manifest);
      const plain = (dump: Buffer) => dump.toString("latin1").replace(/^-- Dump completed.*$/m, "");
      expect(plain(content)).toBe(plain(all.content));
    },
  );

  test("with privileges by a role, by PUBLIC or by a rule for another host is accepted", async () => {
    const byRole = await makeAccount(
      (account) =>
        `CREATE ROLE reader; GRANT ${reading} ON shop_1.* TO reader; GRANT SELECT ON mysql.proc TO reader; GRANT reader TO ${account}; SET DEFAULT ROLE reader FOR ${account}`,
    );
    expect(await rehearse(byRole.source)).toMatch(/^MariaDB/);
    const trust = (value: number) =>
      server.query(null, `SET GLOBAL log_bin_trust_function_creators = ${value}`);
    await trust(1);
    const byHost = await makeAccount(
      (account) =>
        `CREATE USER ${account}@'127.0.0.1' IDENTIFIED BY 'x'; GRANT ${reading} ON shop_1.* TO ${account}@'%'; GRANT SELECT ON mysql.proc TO ${account}@'127.0.0.1'`,
    );
    expect(await rehearse(byHost.source)).toMatch(/^MariaDB/);
    await trust(0);
    await server.query(
      null,
      `GRANT ${reading} ON shop_1.* TO PUBLIC; GRANT SELECT ON mysql.proc TO PUBLIC`,
    );
    const byPublic = await makeAccount(() => "");
    expect(await rehearse(byPublic.source)).toMatch(/^MariaDB/);
    await server.query(
      null,
      `REVOKE ${reading} ON shop_1.* FROM PUBLIC; REVOKE SELECT ON mysql.proc FROM PUBLIC`,
    );
  });

  test("that may read and not restore is reported at once, with the grants that a restore and a drill need", async () => {
    const { source, user } = await makeAccount(
      (account) => `GRANT ${reading} ON shop_1.* TO ${account}; ${onProc(account)}`,
    );
    const { content, manifest } = await takeDump(source);
    const line = await rehearse(source);
    expect(line).toContain(
      `A restore or drill would be refused: '${user}'@'%' may not change shop_1 or a scratch database.`,
    );
    await expect(source.drill(streamOf(content), manifest, attemptOf(9))).rejects.toThrow(
      "GRANT ALL PRIVILEGES ON `quarterdeck\\_%`",
    );
    const cure = / Allow it with: (GRANT .*;)$/.exec(line)?.[1];
    await server.query(null, cure ?? "no cure");
    expect(await rehearse(source)).not.toContain("refused");
    // The server has a binary log, like MySQL 8 by default.
    const refused = source.drill(streamOf(content), manifest, attemptOf(9));
    await expect(refused).rejects.toThrow("SET GLOBAL log_bin_trust_function_creators = 1;");
    await server.query(null, "SET GLOBAL log_bin_trust_function_creators = 1");
    expect(await source.drill(streamOf(content), manifest, attemptOf(9))).toContain("restored");
    await source.restore(streamOf(content), attemptOf(9));
  });

  inLongForm(() => {
    test("whose privileges are revoked during a restore keeps its backups, which name the leftovers and how to remove them", async () => {
      const scratchRights = "`quarterdeck\\_%`";
      const { source, user } = await makeAccount(onProc);
      const allow = () =>
        server.query(
          null,
          `GRANT ALL ON shop_1.* TO ${user}; GRANT ALL ON ${scratchRights}.* TO ${user}`,
        );
      const revoke = (what: string, on: string) =>
        server.query(null, `REVOKE ${what} ON ${on}.* FROM ${user}`);
      /** @param then runs before the first script that contains `words` */
      const restoreUntil = (
        id: number,
        words: string,
        then: () => Promise<unknown>,
        dump: Buffer,
      ) =>
        sourceOf(
          server.url("shop_1", { user, password: "x" }),
          scratch,
          hookedHost(words, then),
        ).restore(streamOf(dump), attemptOf(id));
      await server.query(null, "SET GLOBAL log_bin_trust_function_creators = 1");
      await allow();

      // The new tables are in place, but the old ones cannot be dropped.
      const noDrop = () => revoke("DROP", scratchRights);
      await restoreUntil(21, "DROP DATABASE", noDrop, all.content);
      const line = await rehearse(source);
      expect(line).toContain(`Warning: '${user}'@'%' may not drop what a restore or drill left`);
      const drops = "DROP DATABASE `quarterdeck_new_21`; DROP DATABASE `quarterdeck_old_21`;";
      expect(line).toContain(`Run with an account that may: ${drops}`);
      await takeDump(source);
      await expect(source.restore(streamOf(all.content), attemptOf(21))).rejects.toThrow(drops);
      await server.query(null, drops);
      expect(await rehearse(source)).not.toContain("Warning");
      expect(await readdir(scratch)).toEqual([]);

      // The tables are exchanged, but neither the next step nor the rollback is allowed.
      await allow();
      const noWay = async () => {
        await revoke("CREATE VIEW", "shop_1");
        await revoke("ALTER", scratchRights);
        throw new Error("gone");
      };
      const finishing = "CREATE OR REPLACE";
      await expect(restoreUntil(22, finishing, noWay, all.content)).rejects.toThrow("gone");
      const begun = await rehearse(source);
      expect(begun).toContain(
        "Warning: the restore of backup 22 was cut off, and can be neither completed nor undone",
      );
      expect(begun).not.toContain("DROP DATABASE");
      await expect(source.restore(streamOf(all.content), attemptOf(23))).rejects.toThrow(
        "Nothing was changed: the restore of backup 22",
      );
      // Undoing restore 22 later would undo a restore of all databases, too.
      const account = { user, password: "x" };
      const whole = createMysqlServerSource({
        host: testHost,
        name: "all",
        url: server.url("", account),
        scratchFolder: scratch,
      });
      await expect(whole.restore(streamOf(all.content), attemptOf(23))).rejects.toThrow(
        "Nothing was changed: the restore of backup 22",
      );
      // Old tables that are hidden from the account do not count as removed.
      await revoke("ALL", scratchRights);
      expect(await rehearse(source)).toContain("may not look into scratch databases");
      await allow();
      expect(await rehearse(source)).toContain("of backup 22 that was cut off is settled");

      // A restore of all databases blocks a restore of one of them.
      await revoke("ALL", scratchRights);
      const names = serverNamesOf(
        readServerUrl("all", server.url("", account)),
        { scratchFolder: scratch },
        26,
      );
      await writePlan(names, { state: "begun", accounts: [], grants: [], members: [] });
      await expect(source.restore(streamOf(all.content), attemptOf(23))).rejects.toThrow(
        "Nothing was changed: the restore of backup 26",
      );
      await allow();
      expect(await rehearse(source)).toContain(
        "backup 26 that was cut off is settled: the whole server is as it was",
      );

      // Objects that cannot be dropped do not prevent the rollback.
      const noRoutines = async () => {
        await revoke("ALTER ROUTINE", "shop_1");
        throw new Error("gone");
      };
      await server.query(
        "shop_1",
        "DROP TRIGGER shout; DROP VIEW seen; CREATE VIEW late AS SELECT 1",
      );
      const before = await outline();
      await expect(restoreUntil(24, finishing, noRoutines, all.content)).rejects.toThrow("gone");
      expect(await outline()).toBe(before);

      // A refused load leaves only a scratch database.
      await allow();
      const cut = restoreUntil(
        25,
        "CREATE DATABASE `quarterdeck_new",
        noDrop,
        all.content.subarray(0, 3000),
      );
      await expect(cut).rejects.toThrow("DROP command denied");
      expect(await rehearse(source)).toContain("DROP DATABASE `quarterdeck_new_25`;");
      await allow();
      expect(await rehearse(source)).toContain(
        "backup 25 that was cut off is settled: shop_1 is as it was",
      );
      expect(await readdir(scratch)).toEqual([]);
      expect(await scratchDatabases(server)).toBe("");
    });
  });
});
