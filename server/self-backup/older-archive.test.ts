// An archive of an older version: its database is created with that version's schema, and then upgraded.
import { createHash, randomBytes } from "node:crypto";
import { expect, inject, onTestFinished, test } from "vitest";
import { administer } from "../testing/service.ts";
import { withClient } from "../testing/with-client.ts";
import { openDatabase, migrationsFolder } from "../store/database.ts";
import { readMigrationFiles } from "../store/drizzle.ts";
import { openSide, type Side } from "../store/move/side.ts";
import { makeTables } from "../store/move/structure.ts";
import { jobsSchema } from "../store/schema-version.ts";
import { nameOfPart, type ArchiveManifest } from "./archive-manifest.ts";
import { loadArchive } from "./load-archive.ts";
import { tarEnd, tarMember, type Member } from "./tar.ts";

const migrations = readMigrationFiles({ migrationsFolder });
/** Several migrations back, so that tables and columns are missing. */
const applied = migrations.slice(0, -4);
const older = applied.at(-1)?.folderMillis ?? 0;

async function openEmpty() {
  const database = `test_${randomBytes(6).toString("hex")}`;
  await administer(`create database ${database}`);
  onTestFinished(() => administer(`drop database if exists ${database} with (force)`));
  const connection = { ...inject("postgres"), database };
  const side = await openSide({ connection, embeddedIn: null, verb: "restore" });
  onTestFinished(() => side.close());
  return { connection, side };
}

/** Rows in the format of COPY. */
const rowsOf: Record<string, string[]> = {
  "drizzle.__drizzle_migrations": applied.map(
    ({ hash, folderMillis }, index) => `${folderMillis}\t${hash}\t${index + 1}`,
  ),
  settings: ["one\trow"],
};

async function archiveOf(side: Side, change: Partial<ArchiveManifest> = {}) {
  await side.query("begin");
  const { tables } = await makeTables(side, older);
  await side.query("rollback");
  const manifest: ArchiveManifest = {
    format: "quarterdeck-archive",
    version: 1,
    quarterdeck: "0.0.1",
    made_at: "2026-01-01T00:00:00.000Z",
    schema: older,
    jobs_schema: jobsSchema,
    tables: tables.map(({ name, columns }) => ({
      name,
      columns,
      rows: rowsOf[name]?.length ?? 0,
    })),
    sequences: [
      {
        name: "drizzle.__drizzle_migrations_id_seq",
        last_value: String(applied.length),
        is_called: true,
      },
    ],
    has_inventory: false,
    has_secrets: false,
    secret_files: [],
    missing_files: [],
    ...change,
  };
  const members: Member[] = [
    { name: "manifest.json", content: Buffer.from(JSON.stringify(manifest)) },
    ...tables.map(({ name }) => ({
      name: nameOfPart(name, 1),
      content: Buffer.from((rowsOf[name] ?? []).map((row) => `${row}\n`).join("")),
    })),
  ];
  const sums = members.map(
    ({ name, content }) => `${createHash("sha256").update(content).digest("hex")}  ${name}\n`,
  );
  members.push({ name: "SHA256SUMS", content: Buffer.from(sums.join("")) });
  const bytes = Buffer.concat([
    ...members.map((member) => tarMember(member, new Date(0))),
    tarEnd(),
  ]);
  // In pieces that end at arbitrary bytes.
  return (async function* pieces() {
    for (let from = 0; from < bytes.length; from += 777) yield bytes.subarray(from, from + 777);
  })();
}

test("an archive of an older version is restored unchanged, and upgraded by the next start", async () => {
  const { connection, side } = await openEmpty();
  await loadArchive(await archiveOf(side), side);
  await side.query("commit");
  await side.close();
  const { close } = await openDatabase(connection, () => undefined);
  await close();
  const found = await withClient(connection, async (client) => {
    const { rows } = await client.query<{ count: number; value: string }>(
      `select (select count(*)::int from drizzle.__drizzle_migrations), value from settings where key = 'one'`,
    );
    return rows;
  });
  expect(found).toEqual([{ count: migrations.length, value: "row" }]);
});

test.each([
  ["a newer version", { schema: 1e15 }, "Restore it with that version or a newer one"],
  ["another job engine", { jobs_schema: 1 }, "Restore it with Quarterdeck 0.0.1, then upgrade"],
])("refuses an archive of %s", async (_what, change, words) => {
  const { side } = await openEmpty();
  await expect(loadArchive(await archiveOf(side, change), side)).rejects.toThrow(words);
});
