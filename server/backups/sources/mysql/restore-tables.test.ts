// Tests restores of single tables of a MySQL or MariaDB backup into the live database.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startMariadbServer, type MariadbServer } from "../../testing/mariadb-server.ts";
import { isLongForm } from "../../../testing/long-form.ts";
import { SourceError } from "../source.ts";
import {
  attemptOf,
  countingHost,
  everything,
  pictureOf,
  scratchDatabases,
  sourceOf,
  streamOf,
  takeDump,
  testHost,
} from "./testing/fixtures.ts";
import { createMysqlSource } from "./source.ts";

let server: MariadbServer;
let scratch: string;
let url: string;
/** A dump of the database's state at the start of each test. */
let whole: Awaited<ReturnType<typeof takeDump>>;

/** In addition to `everything`: a float, whose rows the server itself dumps, and a table that two others refer to. */
const more = `
CREATE TABLE buyers (id INT PRIMARY KEY, share FLOAT); INSERT INTO buyers VALUES (1, 0.1), (2, 1e10);
CREATE TABLE things (id INT PRIMARY KEY, part INT, KEY part (part), CONSTRAINT \`part of\` FOREIGN KEY (part) REFERENCES things (id));
INSERT INTO things VALUES (1, NULL), (40, 1);
CREATE TABLE bought (id INT AUTO_INCREMENT PRIMARY KEY, buyer INT, what INT, KEY who (buyer), KEY what (what), CONSTRAINT who FOREIGN KEY (buyer) REFERENCES buyers (id) ON DELETE CASCADE, CONSTRAINT what FOREIGN KEY (what) REFERENCES things (id) ON UPDATE SET NULL);
INSERT INTO bought (buyer, what) VALUES (1, 1), (2, 40);
CREATE TRIGGER counted BEFORE INSERT ON bought FOR EACH ROW INSERT INTO nothing VALUES (1);
`;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "quarterdeck-mysql-"));
  server = await startMariadbServer();
  url = server.url("shop");
  await makeShop();
  whole = await takeDump(sourceOf(url, scratch));
});
afterAll(async () => {
  await server?.stop();
  await rm(scratch, { recursive: true, force: true });
});
beforeEach(() => makeShop());

const makeShop = () =>
  server.query(
    null,
    `CREATE OR REPLACE DATABASE shop CHARACTER SET utf8mb4; USE shop;\n${everything}\n${more}`,
  );
const sql = (text: string) => server.query("shop", text);
const picture = () => pictureOf(server, url);
const tablesOf = (...tables: string[]) => sourceOf(url, scratch, testHost, tables);
const expectNothingLeft = async () => {
  expect(await scratchDatabases(server)).toBe("");
  expect((await readdir(scratch)).filter((name) => name.startsWith("mysql-"))).toEqual([]);
};

test("tables get their rows back, and everything around them stays unchanged", async () => {
  const { content, manifest } = whole;
  const before = await picture();
  await sql(`SET foreign_key_checks = 0; DELETE FROM buyers; DELETE FROM kinds;
    UPDATE bought SET what = NULL; CREATE TABLE later (id INT PRIMARY KEY);
    ALTER TABLE bought AUTO_INCREMENT = 50`);
  const attempt = attemptOf(3);
  await tablesOf("buyers", "kinds", "bought").restore(streamOf(content), attempt, manifest);
  expect(attempt.said).toEqual([]);
  await expectNothingLeft();
  // Later rows are kept; all else is as in the backup, with every foreign key, trigger and view.
  expect(await sql("INSERT INTO bought (buyer) VALUES (1); SELECT MAX(id) FROM bought")).toBe(
    "50\n",
  );
  await sql(
    `DELETE FROM bought WHERE id = 50; DELETE FROM nothing; DROP TABLE later; ALTER TABLE bought AUTO_INCREMENT = 3`,
  );
  expect(await picture()).toBe(before);
  // Restores only the parents: the foreign keys of other tables refer to the new ones.
  await sql("UPDATE buyers SET share = 7");
  await tablesOf("buyers").restore(streamOf(content), attemptOf(3), manifest);
  expect(await picture()).toBe(before);
});

test("restores dropped tables with their triggers, and foreign keys if both sides exist", async () => {
  const { content, manifest } = whole;
  const before = await picture();
  await sql("SET foreign_key_checks = 0; DROP TABLE things, bought, kinds");
  const attempt = attemptOf(3);
  await tablesOf("things", "bought", "kinds").restore(streamOf(content), attempt, manifest);
  expect(attempt.said).toContain("Creating things, which is not there.");
  await expectNothingLeft();
  expect(await picture()).toBe(before);
  await sql("SET foreign_key_checks = 0; DROP TABLE bought, buyers");
  const alone = attemptOf(3);
  await tablesOf("bought").restore(streamOf(content), alone, manifest);
  expect(alone.said).toContain(
    "Left out: the foreign key who of bought, because buyers is not there.",
  );
  expect(await sql("SELECT COUNT(*) FROM bought")).toBe("2\n");
});

test("tables that cannot be restored without a loss are refused with a message, and nothing changes", async () => {
  const { content, manifest } = whole;
  let bought = "bought";
  const state = () =>
    sql(`SHOW CREATE TABLE things; SHOW CREATE TABLE ${bought};
      SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE, ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() ORDER BY 1;
      CHECKSUM TABLE buyers, things, ${bought}, mine EXTENDED`);
  const refused = async (tables: string[], words: RegExp) => {
    const before = await state();
    const failing = tablesOf(...tables).restore(streamOf(content), attemptOf(3), manifest);
    await expect(failing).rejects.toThrow(words);
    await expect(failing).rejects.toBeInstanceOf(SourceError);
    expect(await state()).toBe(before);
    await expectNothingLeft();
  };
  bought = "bought_since";
  await sql("RENAME TABLE bought TO bought_since");
  await refused(
    ["bought"],
    /bought_since has a trigger counted, .*: DROP TRIGGER `shop`\.`counted`;/,
  );
  await sql("DROP TRIGGER counted");
  await refused(
    ["bought"],
    /bought_since has a foreign key (wh(?:o|at)), .*: ALTER TABLE `shop`\.`bought_since` DROP FOREIGN KEY `\1`;/,
  );
  bought = "bought";
  await makeShop();
  await refused(["buyers", "no_such"], /Nothing was changed: the backup holds no table no_such/);
  await refused(["z_base"], /z_base is no table any more/);
  await sql("INSERT INTO buyers VALUES (3, 0); INSERT INTO bought (buyer) VALUES (3)");
  await refused(["buyers"], /rows would refer to rows that are not there: .*CONSTRAINT `who`/s);
  await sql("SET foreign_key_checks = 0; DELETE FROM bought; DELETE FROM buyers");
  if (isLongForm)
    await refused(["bought"], /rows would refer to rows that are not there: .*CONSTRAINT `who`/s);
  await sql("ALTER TABLE buyers ADD COLUMN later INT");
  await refused(["buyers"], /before there was a column buyers\.later/);
  const miscounted = { kind: "database", tables: { mine: 9 } } as const;
  await expect(
    tablesOf("mine").restore(streamOf(content), attemptOf(3), miscounted),
  ).rejects.toThrow("mine has 1 rows instead of 9");
  await server.createDatabase("keys");
  await server.query(
    "keys",
    "CREATE TABLE far (id INT, FOREIGN KEY (id) REFERENCES shop.things (id))",
  );
  await refused(["things"], /would follow its old tables: keys\.far/);
  await server.query(null, "DROP DATABASE `keys`");
});

/** `npm run soak -- kills` has more. */
const kills = Number(process.env["RESTORE_KILLS"] ?? 2);

test(
  `a service that is killed while it restores tables leaves the old or the new ones, complete, ${kills} times`,
  { timeout: 60_000 + kills * 30_000 },
  async () => {
    const source = sourceOf(url, scratch);
    const place = { host: testHost, name: "shop", url, scratchFolder: scratch };
    const named = createMysqlSource({ ...place, installation: "i1" });
    const fresh = await picture();
    const { content } = whole;
    const file = join(scratch, "dump.sql");
    await writeFile(file, content);
    const change =
      "SET foreign_key_checks = 0; UPDATE buyers SET share = 5; UPDATE mine SET id = 9";
    await sql(change);
    const old = await picture();
    let commands = 0;
    const counting = countingHost((number) => (commands = number));
    await sourceOf(url, scratch, counting, ["buyers", "mine"]).restore(
      streamOf(content),
      attemptOf(6),
    );
    let restored = 0;
    for (let round = 0; round < kills; round += 1) {
      await sql(change);
      // Kills in the second half, in which tables and keys are exchanged.
      const killAt = Math.round(commands / 2 + (round * (commands / 2 - 1)) / (kills - 1));
      const child = fork(
        join(import.meta.dirname, "testing/restore-child.ts"),
        [url, scratch, file, `${killAt}`, `${(round % 2) * 10}`, "buyers", "mine"],
        { stdio: "ignore" },
      );
      await once(child, "exit");
      // Every second one is settled by a service with its installation's id in names; the killed one had none.
      const state = await (round % 2 === 0 ? named : source).settle(attemptOf(6));
      const found = await picture();
      if (found !== fresh) expect(found).toBe(old);
      else restored += 1;
      if (state !== "unknown") expect(state).toBe(found === fresh ? "restored" : "as it was");
      await expectNothingLeft();
    }
    // Kills before and after the exchange occurred.
    expect(restored).toBeGreaterThan(0);
    expect(restored).toBeLessThan(kills);
  },
);
