// Tests encrypted backups, whose private key the service does not have.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { armor, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backup } from "../../contract/backups/backup.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";
import { isLongForm } from "../testing/long-form.ts";
import { ownUser } from "../testing/own-user.ts";
import { query } from "./sources/sqlite/testing/fixtures.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "./testing/postgres-server.ts";

/** Text that each source contains, and that no storage may contain. */
const planted = "PLANTED-PLAINTEXT";

const identities = await Promise.all([1, 2, 3].map(() => generateX25519Identity()));
const [mine = "", spare = "", foreign = ""] = identities;
const [myRecipient = "", spareRecipient = ""] = await Promise.all(
  identities.map(identityToRecipient),
);

/** A public key whose bytes are all zero (RFC 7748, 6.1). */
const unusable = "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z";

const hasAge = spawnSync("age", ["--version"]).error === undefined;

/** Encryption is the same for all kinds of dumps. */
const hasPostgres = hasPostgresServer && isLongForm;
let postgres: PostgresServer | null = null;
beforeAll(async () => {
  if (!hasPostgres) return;
  postgres = await startPostgresServer();
  await postgres.createDatabase("shop");
  await postgres.query("shop", `create table orders as select '${planted}' as customer`);
});
afterAll(() => postgres?.stop());

const remote = createRemoteServer();
let service: BackupTestService;
/** A backup of the SQLite database, which no test restores. */
let sealed: Backup;
beforeAll(async () => {
  service = await createBackupTestService(
    {
      secrets: {
        SHOP: postgres?.url("shop") ?? "",
        DRILL: `# Of drills alone.\n${spare}\n`,
        SLIP: spare.slice(1),
      },
    },
    {
      servers: `  - { id: 3, name: far, connection: ${await remote.connection()} }`,
      databases: (folder) => `  - { id: 4, server: 1, name: pg, engine: postgres, url: env:SHOP }
  - { id: 5, server: 3, name: far, engine: sqlite, path: ${folder}/far.sqlite, user: ${ownUser} }`,
      sites: (folder) =>
        `  - { id: 2, server: 3, name: far, root: ${folder}/far, user: ${ownUser} }`,
      providers: (folder) => `
  - { id: 3, name: sealed, type: local, path: ${folder}/copies, recipients: [${myRecipient}, ${spareRecipient}] }
  - { id: 4, name: drilled, type: local, path: ${folder}/copies, recipients: [${spareRecipient}], drill_identity: env:DRILL }
  - { id: 6, name: typo, type: local, path: ${folder}/copies, recipients: [${spareRecipient}], drill_identity: env:SLIP }
  - { id: 5, name: unusable, type: local, path: ${folder}/copies, recipients: [${unusable}] }`,
    },
  );
  service.sql(`insert into orders (customer) values ('${planted}')`);
  await copyFile(join(service.folder, "orders.sqlite"), join(service.folder, "far.sqlite"));
  await mkdir(join(service.folder, "far"));
  for (const site of ["shop", "far"])
    await writeFile(join(service.folder, site, "index.php"), planted);
  sealed = await run({ backupable_id: 1 });
});
afterAll(() => service?.close());

const inSite = (site: string) => {
  const page = () => join(service.folder, site, "index.php");
  return {
    spoil: () => writeFile(page(), "changed"),
    isThere: async () => (await readFile(page(), "utf8")) === planted,
  };
};
const inSqlite = (name: string) => {
  const ask = (sql: string) => query(sql, join(service.folder, name));
  return {
    spoil: async () => void ask("delete from orders"),
    isThere: async () => JSON.stringify(ask("select * from orders")).includes(planted),
  };
};
const here = [
  {
    what: "a SQLite database",
    change: { backupable_id: 1 },
    ...inSqlite("orders.sqlite"),
  },
  { what: "a site", change: { backupable_type: "site" }, ...inSite("shop") },
  {
    what: "a PostgreSQL database",
    change: { backupable_id: 4 },
    spoil: async () => void (await postgres?.query("shop", "delete from orders")),
    isThere: async () =>
      JSON.stringify(await postgres?.query("shop", "select * from orders")).includes(planted),
  },
].filter(({ change }) => hasPostgres || change.backupable_id !== 4);
/** Compressed on the server if that has zstd, and encrypted here. */
const there = [
  {
    what: "a SQLite database of a remote server",
    change: { server: 3, backupable_id: 5 },
    ...inSqlite("far.sqlite"),
  },
  {
    what: "a site of a remote server",
    change: { server: 3, backupable_type: "site", backupable_id: 2 },
    ...inSite("far"),
  },
];
const sources = [...here, ...(isLongForm ? there : there.slice(0, 1))];

const copies = () => join(service.folder, "copies");
const run = async (change: object): Promise<Backup> => {
  const { id } = await service.installed({ storage_provider_id: 3, ...change });
  const backup = await service.run(id);
  expect(backup.status, backup.output).toBe("finished");
  return backup;
};
const restore = (id: number, body: object) => service.call("PUT", `/api/backup/${id}`, body);
const errors = (id: number, body: object) => service.errorsOf("PUT", `/api/backup/${id}`, body);

test.skipIf(!hasAge).each(sources)(
  "$what is stored unreadable, and restored with either key",
  async ({ what, change, spoil, isThere }) => {
    const backup = await run(change);
    expect(backup).toMatchObject({ encrypted: true });
    expect(backup.path).toMatch(/\.zst\.age$/);
    const file = join(copies(), backup.path);
    const manifest = JSON.parse(await readFile(`${file}.json`, "utf8"));
    expect(manifest.encryption).toEqual({
      format: "age",
      recipients: [myRecipient, spareRecipient],
    });
    expect(await readFile(file, "latin1")).toMatch(/^age-encryption\.org\/v1\n/);
    for (const key of [mine, spare]) {
      await writeFile(join(service.folder, "key.txt"), key);
      const open = `age --decrypt --identity "$1/key.txt" "$2" | zstd -dc`;
      const plain = execFileSync("sh", ["-c", open, "sh", service.folder, file]);
      expect(plain.length).toBe(backup.plain_size);
      expect(plain.includes(planted)).toBe(true);
    }

    await spoil();
    expect(await isThere()).toBe(false);
    // Only the SQLite database gets a safety backup, which is encrypted, too.
    const body = { identity: mine, skip_safety_backup: what !== "a SQLite database" };
    expect((await restore(backup.id, body)).status).toBe(202);
    const restored = await service.restored(backup.id, "finished");
    expect(restored.restore_output).not.toMatch(/AGE-SECRET/);
    expect(await isThere()).toBe(true);
  },
);

test("nothing in the storage contains the planted text, compressed or not", async () => {
  for (const name of readdirSync(copies(), { recursive: true, encoding: "utf8" })) {
    if (!/\.(?:age|json|md)$/i.test(name)) continue;
    expect(readFileSync(join(copies(), name)).includes(planted), name).toBe(false);
  }
  const unpack = `find "$1" -type f -exec sh -c 'zstd -dcf "$1" 2>/dev/null' sh {} \\; | grep -c ${planted} || true`;
  expect(execFileSync("sh", ["-c", unpack, "sh", copies()]).toString().trim()).toBe("0");
});

test("a drill restores with the drill identity, and without one only verifies and says so", async () => {
  const drilled = await run({ backupable_id: 1, storage_provider_id: 4 });
  await service.call("POST", `/api/backup/${drilled.id}/drill`);
  await soon(async () => expect((await service.backup(drilled.id)).drill_status).toBe("finished"));
  await service.call("POST", `/api/backup/${sealed.id}/drill`);
  await soon(async () =>
    expect((await service.backup(sealed.id)).drill_output).toMatch(
      /Stored file verified\.\nNot restored: the backup is encrypted/,
    ),
  );
  const after = await service.backup(sealed.id);
  expect(after).toMatchObject({ drill_status: null, damage: null });
  expect(after.verified_at).not.toBe(null);
  expect((await service.show(after.configuration_id ?? 0)).last_proven_at).toBe(null);
});

test("a restore needs the matching key, and shows errors at its field", async () => {
  const { id } = sealed;
  expect((await errors(id, {}))["identity"]?.[0]).toMatch(/required.*encrypted/);
  expect((await errors(id, { identity: "AGE-SECRET-KEY-1NONSENSE" }))["identity"]?.[0]).toMatch(
    /^An identity is a private key of age/,
  );
  const other = await service.json("PUT", `/api/backup/${id}`, { identity: foreign });
  expect(JSON.stringify(other.body)).toMatch(/encrypted to other recipients/);
  expect(JSON.stringify(other.body)).not.toContain(foreign);
  const both = await errors(id, { skip_safety_backup: "no" });
  expect(Object.keys(both).sort()).toEqual(["identity", "skip_safety_backup"]);
  expect((await service.backup(id)).restore_status).toBe(null);
});

test("opens an identity file that is protected by a passphrase", async () => {
  const { id } = await run({ backupable_id: 1 });
  const encrypter = new Encrypter();
  encrypter.setPassphrase("correct horse");
  encrypter.setScryptWorkFactor(12);
  const identity = armor.encode(await encrypter.encrypt(`# mine\n${mine}\n`));
  expect(await errors(id, { identity })).toEqual({
    passphrase: ["The identity file is protected by a passphrase."],
  });
  const wrong = await errors(id, { identity, passphrase: "wrong" });
  expect(wrong["passphrase"]?.[0]).toMatch(/doesn't open/);
  const body = { identity, passphrase: "correct horse", skip_safety_backup: true };
  expect((await restore(id, body)).status).toBe(202);
  await service.restored(id, "finished");
});

test("an invalid drill identity leaves no stored file open", async () => {
  const { id, path } = await run({ backupable_id: 1, storage_provider_id: 6 });
  await service.call("POST", `/api/backup/${id}/drill`);
  await soon(async () => expect((await service.backup(id)).drill_status).toBe("failed"));
  expect((await service.backup(id)).drill_output).toMatch(/An identity is a private key of age/);
  await soon(() => {
    const open = execFileSync("find", [`/proc/${process.pid}/fd`, "-printf", "%l\n"]);
    expect(open.toString().split("\n")).not.toContainEqual(expect.stringContaining(path));
    return Promise.resolve();
  });
});

test("the rehearsal detects a recipient that nothing can be encrypted to", async () => {
  const { id } = await service.configuration({ storage_provider_id: 5 });
  await soon(async () => expect((await service.show(id)).status).toBe("failed"));
  expect((await service.show(id)).status_reason).toMatch(
    /^Recipient 1 of the storage provider is no public key of age/,
  );
});

test("a recipient with a typo is refused at its field", async () => {
  const typo = `${myRecipient.slice(0, -1)}${myRecipient.endsWith("q") ? "p" : "q"}`;
  const { body } = await service.json<{ version: string }>("GET", "/api/inventory");
  const save = (recipients: string[]) =>
    service.errorsOf("POST", `/api/inventory/storage-providers?version=${body.version}`, {
      name: "typo",
      type: "local",
      path: copies(),
      recipients,
    });
  expect(await save([myRecipient, typo])).toEqual({
    "recipients.1": [expect.stringMatching(/^The checksum of this public key doesn.t match/)],
  });
});
