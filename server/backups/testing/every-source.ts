// Creates a service with one source of each kind, by default with more content than all buffers hold, and a storage behind
// a gate.
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startS3, type Gate } from "../../storage/testing/s3.ts";
import type { RemoteServer } from "../../ssh/testing/remote-server.ts";
import { ownUser } from "../../testing/own-user.ts";
import { createBackupTestService, type BackupTestService } from "./backup-service.ts";
import { startMariadbServer, type MariadbServer } from "./mariadb-server.ts";
import { hasPostgresServer, startPostgresServer, type PostgresServer } from "./postgres-server.ts";

const isRoot = process.getuid?.() === 0;
/** The uid of `nobody` on Debian. */
const nobody = 65_534;

/** Fields of a request for a configuration of each kind. */
export const sourceKinds = {
  ...(hasPostgresServer && {
    PostgreSQL: { backupable_type: "database", backupable_id: 4 },
    "whole PostgreSQL server": { backupable_type: "database", backupable_id: 9 },
  }),
  MariaDB: { backupable_type: "database", backupable_id: 5 },
  "whole MariaDB server": { backupable_type: "database", backupable_id: 10 },
  SQLite: { backupable_type: "database", backupable_id: 1 },
  ...(hasPostgresServer && {
    "PostgreSQL on a remote server": { server: 3, backupable_type: "database", backupable_id: 7 },
  }),
  "MariaDB on a remote server": { server: 3, backupable_type: "database", backupable_id: 8 },
  "whole MariaDB server on a remote server": {
    server: 3,
    backupable_type: "database",
    backupable_id: 11,
  },
  "SQLite on a remote server": { server: 3, backupable_type: "database", backupable_id: 6 },
  "folder on a remote server": { server: 3, backupable_type: "site", backupable_id: 3 },
  folder: { backupable_type: "site", backupable_id: 1 },
  ...(isRoot && { "folder of another account": { backupable_type: "site", backupable_id: 2 } }),
};
export type SourceKind = keyof typeof sourceKinds;

/** Ids of storage providers: one behind the gate, one that refuses connections. */
export const gated = 3;
export const refusing = 4;

export type EverySource = {
  service: BackupTestService;
  gate: Gate;
  mariadb: MariadbServer | null;
  postgres: PostgresServer | null;
  objects(): Promise<string[]>;
  close(): Promise<void>;
};

/**
 * @param remote the server of remote sources; null if none of them is tested
 * @param megabytesOf size of a source, approximate for a database; a whole server has that one database; 0 of PostgreSQL or
 *   MariaDB = no such server
 */
export async function createEverySource(
  remote: RemoteServer | null,
  megabytesOf: (kind: SourceKind) => number = () => 20,
): Promise<EverySource> {
  const rowsOf = (kind: SourceKind) => megabytesOf(kind) * 15_000;
  const fill = async (folder: string, kind: SourceKind) => {
    for (let count = 0; count < 10; count++)
      await writeFile(join(folder, `noise-${count}`), randomBytes(megabytesOf(kind) * 100_000));
  };
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-every-"));
  const gate = await startS3(folder);
  const postgres =
    hasPostgresServer && megabytesOf("PostgreSQL") > 0 ? await startPostgresServer() : null;
  const mariadb = megabytesOf("MariaDB") > 0 ? await startMariadbServer() : null;
  await mariadb?.createDatabase("shop");
  await mariadb?.query(
    "shop",
    `create table noise as select seq as id, sha2(seq, 512) as noise from seq_1_to_${rowsOf("MariaDB")}`,
  );
  await postgres?.createDatabase("shop");
  await postgres?.query(
    "shop",
    `create table noise as select i as id, sha512(i::text::bytea) as noise from generate_series(1, ${rowsOf("PostgreSQL")}) i`,
  );
  const bucket = (endpoint = "") =>
    `type: s3, bucket: copies, endpoint: "${endpoint}", access_key: env:S3_KEY, secret_key: env:S3_KEY`;
  const service = await createBackupTestService(
    {
      secrets: {
        POSTGRES: postgres?.url("shop") ?? "",
        MARIADB: mariadb?.url("shop") ?? "",
        S3_KEY: gate.options.accessKey,
      },
    },
    {
      servers: `  - { id: 3, name: far, connection: ${(await remote?.connection()) ?? "local"} }`,
      databases: (home) => `  - { id: 4, server: 1, name: pg, engine: postgres, url: env:POSTGRES }
  - { id: 5, server: 1, name: maria, engine: mysql, url: env:MARIADB }
  - { id: 6, server: 3, name: notes, engine: sqlite, path: ${home}/notes.sqlite, user: ${ownUser} }
  - { id: 7, server: 3, name: far-pg, engine: postgres, url: env:POSTGRES }
  - { id: 8, server: 3, name: far-maria, engine: mysql, url: env:MARIADB }
  - { id: 9, server: 1, name: pg-server, engine: postgres, url: env:POSTGRES, scope: server }
  - { id: 10, server: 1, name: maria-server, engine: mysql, url: env:MARIADB, scope: server }
  - { id: 11, server: 3, name: far-maria-server, engine: mysql, url: env:MARIADB, scope: server }`,
      sites: (home) => `  - { id: 3, server: 3, name: far, root: ${home}/far, user: ${ownUser} }
${isRoot ? `  - { id: 2, server: 1, name: other, root: ${home}/theirs/other, user: nobody }` : ""}`,
      providers: () =>
        `  - { id: ${gated}, name: offsite, ${bucket(gate.options.endpoint ?? "")} }
  - { id: ${refusing}, name: closed, ${bucket("http://127.0.0.1:9")} }`,
    },
  );
  await fill(join(service.folder, "shop"), "folder");
  await mkdir(join(service.folder, "far"));
  await fill(join(service.folder, "far"), "folder on a remote server");
  const makeNoise = (kind: SourceKind) =>
    `create table noise as with recursive n(i) as (select 1 union all select i + 1 from n where i < ${megabytesOf(kind) * 1000}) select i, randomblob(1000) from n`;
  service.sql(makeNoise("SQLite"));
  const notes = new DatabaseSync(join(service.folder, "notes.sqlite"));
  notes.exec(makeNoise("SQLite on a remote server"));
  notes.close();
  if (isRoot) {
    // A restore writes into the folder's parent.
    const theirs = join(service.folder, "theirs");
    const other = join(theirs, "other");
    await mkdir(other, { recursive: true });
    await fill(other, "folder of another account");
    for (const one of [theirs, other]) await chown(one, nobody, nobody);
    await chmod(service.folder, 0o755);
  }
  return {
    service,
    gate,
    mariadb,
    postgres,
    objects: async () =>
      (await readdir(folder, { recursive: true })).filter((name) =>
        name.endsWith("._S3rver_object"),
      ),
    async close() {
      await service.close();
      await gate.close();
      await mariadb?.stop();
      await postgres?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
