// Tests backups of a site whose account is reached by sudo, with SQLite in its folder, through the whole service.
import { execFileSync } from "node:child_process";
import { chmod, lstat, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSudoServer } from "../ssh/testing/remote-server.ts";
import { inLongForm, isLongForm } from "../testing/long-form.ts";
import { isRoot } from "../testing/machine.ts";
import type { Backup } from "../../contract/backups/backup.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";
import { exec, query } from "./sources/sqlite/testing/fixtures.ts";

const remote = createSudoServer();
let service: BackupTestService;
let home: string;
let root: string;
let uid: number;
/** Id of the configuration. */
let id: number;
/** The backup whose content is "old". */
let backup: Backup;
const far = 3;

/** In the long form large enough to cut a restore while it writes. */
const noise = (word: string) => Buffer.alloc(isLongForm ? 20_000_000 : 1_000_000, word);

async function fill(word: string): Promise<void> {
  await writeFile(join(root, "index.php"), word);
  await writeFile(join(root, "noise"), noise(word));
  exec(`delete from pages; insert into pages values ('${word}')`, join(root, "data/shop.sqlite"));
}

/** Returns the word that all content consists of, or another text. */
async function read(): Promise<string> {
  const word = await readFile(join(root, "index.php"), "utf8");
  const rows = query("select word from pages", join(root, "data/shop.sqlite"));
  const isWhole = (await readFile(join(root, "noise"))).equals(noise(word));
  return isWhole && rows[0]?.["word"] === word ? word : `mixed: ${word}, ${JSON.stringify(rows)}`;
}

describe.runIf(isRoot)("a site behind sudo", () => {
  beforeAll(async () => {
    ({ folder: home, uid } = await remote.home());
    root = join(home, "site");
    await mkdir(join(root, "data"), { recursive: true });
    exec("create table pages (word text)", join(root, "data/shop.sqlite"));
    await fill("old");
    execFileSync("chown", ["-R", `${uid}:${uid}`, root]);
    await chmod(root, 0o700);
    const connection = await remote.connection();
    service = await createBackupTestService(
      {},
      {
        servers: `  - { id: ${far}, name: far, connection: ${connection} }`,
        sites: () => `  - { id: 9, server: ${far}, name: far, root: ${root}, user: shop }`,
      },
    );
    const site = { backupable_type: "site", backupable_id: 9 };
    ({ id } = await service.installed({ server: far, ...site }));
    backup = await service.run(id);
  });
  afterAll(() => service?.close());
  beforeEach(() => remote.responds());

  test("is backed up and restored as its account, with databases as of one moment", async () => {
    expect(backup.status, backup.output).toBe("finished");
    expect(backup.output).toContain("data/shop.sqlite is a SQLite database, copied by SQLite");
    await fill("new");
    await service.call("PUT", `/api/backup/${backup.id}`);
    await service.restored(backup.id, "finished");
    expect(await read()).toBe("old");
    for (const name of ["", "data", "data/shop.sqlite", "index.php"])
      expect((await lstat(join(root, name))).uid).toBe(uid);
  });

  // `sources/cut-connections-sudo.test.ts` cuts restores of such a site.
  inLongForm(() => {
    test("is intact after an interrupted restore, and cleaned up at the next contact", async () => {
      await fill("new");
      await service.call("PUT", `/api/backup/${backup.id}`, { skip_safety_backup: true });
      const beside = async () => (await readdir(home)).filter((name) => /quarterdeck/.test(name));
      await soon(async () => expect(await beside()).not.toEqual([]));
      const sshd = await remote.sshd();
      await sshd.stop();
      const cut = await soon(async () => {
        const found = await service.backup(backup.id);
        expect(found.restore_status).not.toBe("running");
        return found;
      });
      const word = await read();
      if (cut.restore_status === "finished") expect(word).toBe("old");
      else
        expect(cut.restore_output).toMatch(
          /(?:was lost|refused the connection|ended the session).* The data is either unchanged or fully restored/,
        );
      expect(["old", "new"]).toContain(word);
      await sshd.start();
      await remote.responds();
      await soon(async () => expect((await service.run(id)).status).toBe("finished"));
      expect(await beside()).toEqual([]);
      expect(await read()).toBe(word);
    });
  });
});
