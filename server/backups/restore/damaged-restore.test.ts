// Tests that restoring a damaged file changes nothing, wherever the damage is and whatever the source, even where the file
// is verified during the restore.
import { createHash } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRemoteServer } from "../../ssh/testing/remote-server.ts";
import { casesOf, isLongForm } from "../../testing/long-form.ts";
import {
  createEverySource,
  sourceKinds,
  type EverySource,
  type SourceKind,
} from "../testing/every-source.ts";

const remote = createRemoteServer();
let every: EverySource;
beforeAll(async () => {
  // Several pieces of each source are passed on before the last one is found to be damaged.
  every = await createEverySource(isLongForm ? remote : null, (kind) =>
    isLongForm ? 20 : kind === "MariaDB" ? 0 : 3,
  );
}, 240_000);
afterAll(() => every.close());

type Content = { read(): Promise<unknown>; change(): Promise<unknown> };

const sqliteFile = (name: string): Content => {
  const open = <Result>(work: (database: DatabaseSync) => Result): Result => {
    const database = new DatabaseSync(join(every.service.folder, name));
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    read: async () => [
      open((database) => database.prepare("select count(*) from noise").all()),
      (await readdir(every.service.folder)).filter((file) => file.includes(".quarterdeck-")),
    ],
    change: async () => open((database) => database.exec("delete from noise where i % 3 = 0")),
  };
};
const site = (name: string): Content => ({
  async read() {
    const root = join(every.service.folder, name);
    const names = (await readdir(root)).toSorted();
    const hash = createHash("sha256");
    for (const file of names) hash.update(await readFile(join(root, file)));
    const beside = await readdir(dirname(root));
    return [names, hash.digest("hex"), beside.filter((file) => file.includes(".quarterdeck-"))];
  },
  change: () => rm(join(every.service.folder, name, "noise-0"), { force: true }),
});
const postgres: Content = {
  read: async () => every.postgres?.query("shop", "select count(*), sum(id) from noise"),
  change: async () => every.postgres?.query("shop", "delete from noise where id % 3 = 0"),
};
const mariadb: Content = {
  read: async () => [
    await every.mariadb?.query("shop", "select count(*), sum(id) from noise"),
    await every.mariadb?.query("shop", "show databases like 'quarterdeck%'"),
  ],
  change: async () => every.mariadb?.query("shop", "delete from noise where id % 3 = 0"),
};
const contents: Record<SourceKind, () => Content> = {
  PostgreSQL: () => postgres,
  "whole PostgreSQL server": () => postgres,
  "PostgreSQL on a remote server": () => postgres,
  MariaDB: () => mariadb,
  "whole MariaDB server": () => mariadb,
  "whole MariaDB server on a remote server": () => mariadb,
  "MariaDB on a remote server": () => mariadb,
  SQLite: () => sqliteFile("orders.sqlite"),
  "SQLite on a remote server": () => sqliteFile("notes.sqlite"),
  folder: () => site("shop"),
  "folder on a remote server": () => site("far"),
  "folder of another account": () => site("theirs/other"),
};

/** For most kinds, `npm test` uses only the last place, where all else has been passed on already. */
const places: [string, (bytes: number) => number][] = [
  ["at its beginning", () => 20],
  ["in its middle", (bytes) => bytes >> 1],
  ["at its end", (bytes) => bytes - 1],
];

// `each-machine.test.ts` tests damaged files of SQLite on this machine and on a remote server.
test.each(casesOf(sourceKinds, ["PostgreSQL", "folder"]))(
  "a source of kind %s is not changed by a damaged file, and is restored from an intact one",
  { timeout: 240_000 },
  async (kind, source) => {
    const { service } = every;
    // Every kind with a source has an entry.
    const content = contents[kind as SourceKind]();
    const whole = await content.read();
    const { id } = await service.installed(source);
    const backup = await service.run(id);
    expect(backup.status, backup.output).toBe("finished");
    await content.change();
    const changed = await content.read();
    expect(changed).not.toEqual(whole);

    const path = join(service.folder, "copies", backup.path);
    const file = await readFile(path);
    const restore = () =>
      service.call("PUT", `/api/backup/${backup.id}`, { skip_safety_backup: true });
    const isThorough = isLongForm || kind === "PostgreSQL";
    for (const [place, at] of isThorough ? places : places.slice(-1)) {
      const damaged = Buffer.from(file);
      damaged[at(file.length)] = (damaged[at(file.length)] ?? 0) ^ 1;
      await writeFile(path, damaged);
      await restore();
      const failed = await service.restored(backup.id, "failed");
      expect(failed.restore_output, place).toMatch(
        /Checksum mismatch: .* is not the file that was stored\. Nothing was changed\.\n$/,
      );
      expect(failed.damage, place).toMatch(/Checksum mismatch/);
      expect(await content.read(), place).toEqual(changed);
    }
    await writeFile(path, file.subarray(0, -1));
    await restore();
    const cut = await service.restored(backup.id, "failed");
    expect(cut.restore_output).toMatch(/has \d+ bytes instead of \d+\. Nothing was changed\.\n$/);
    expect(await content.read()).toEqual(changed);

    await writeFile(path, file);
    await restore();
    const restored = await service.restored(backup.id, "finished");
    expect(restored.damage).toBeNull();
    expect(await content.read()).toEqual(whole);
    expect(await readdir(join(service.folder, "scratch"))).toEqual([]);
    await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
  },
);
