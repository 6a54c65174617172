import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRemoteServer } from "../../ssh/testing/remote-server.ts";
import { ownUser } from "../../testing/own-user.ts";
import { createBackupTestService, type BackupTestService } from "../testing/backup-service.ts";

const remote = createRemoteServer();
let service: BackupTestService;

beforeAll(async () => {
  const connection = await remote.connection();
  service = await createBackupTestService(
    {},
    {
      servers: `  - { id: 3, name: far, connection: ${connection} }`,
      sites: (folder) => `
  - { id: 7, server: 1, name: near, root: ${folder}/current, user: ${ownUser} }
  - { id: 8, server: 3, name: far, root: ${folder}/far, user: ${ownUser} }`,
      providers: (folder) => `
  - { id: 3, name: in near, type: local, path: ${folder}/near/var/backups }
  - { id: 4, name: in far, type: local, server: 3, path: ${folder}/far/var/backups }`,
    },
  );
  for (const name of ["near", "far"]) {
    await mkdir(join(service.folder, name, "var/backups"), { recursive: true });
    await writeFile(join(service.folder, name, "page"), "old");
  }
  await symlink("near", join(service.folder, "current"));
});
afterAll(() => service?.close());

test.each([
  { name: "near", shown: "current", server: 1, site: 7, provider: 3 },
  { name: "far", shown: "far", server: 3, site: 8, provider: 4 },
])(
  "a restore of a site that contains a storage changes nothing, unless its backup excluded the storage ($name)",
  async ({ name, shown, server, site, provider }) => {
    const at = (path: string) => join(service.folder, name, path);
    const where = { server, backupable_type: "site", backupable_id: site };
    const { id, warnings } = await service.installed({ ...where, storage_provider_id: provider });
    const backups = join(service.folder, name, "var/backups");
    const reason = `the storage “in ${name}”, ${backups}, is in ${join(service.folder, shown)}, and all that is stored there would be lost.`;
    expect(warnings).toContainEqual(expect.stringContaining(`refused: ${reason}`));
    const backup = await service.run(id);
    const other = await service.run((await service.installed(where)).id);
    await writeFile(at("page"), "new");
    const restore = async (one: number, body: unknown, outcome: "finished" | "failed") => {
      expect(await service.statusOf("PUT", `/api/backup/${one}`, body)).toBe(202);
      return service.restored(one, outcome);
    };
    // A backup that is stored elsewhere is refused, too.
    for (const one of [backup.id, other.id])
      expect((await restore(one, {}, "failed")).restore_output).toContain(
        `Nothing was changed: ${reason}`,
      );
    const into = { backup_id: other.id, path: "var" };
    expect(await service.statusOf("POST", `/api/site/${site}/restore`, into)).toBe(202);
    expect((await service.restored(other.id, "failed")).restore_output).toContain(
      `is in ${join(service.folder, shown, "var")}`,
    );
    expect(await readFile(at("page"), "utf8")).toBe("new");
    // No safety backup was made in vain.
    const safety = await service.query(
      "select b.id from backups b join backup_configurations c on c.id = b.configuration_id where c.site_id = $1 and b.trigger = 'safety'",
      [site],
    );
    expect(safety).toEqual([]);

    const without = { ...where, storage_provider_id: provider, exclude: ["/var/backups"] };
    const apart = await service.installed(without);
    expect(apart.warnings).toEqual([]);
    const { id: small } = await service.run(apart.id);
    await writeFile(at("page"), "newest");
    // Lists backups only: RECOVERY.md beside them is rewritten after each run, first under another name.
    const listed = () => readdir(join(backups, "shop"), { recursive: true });
    const before = await listed();
    await restore(small, {}, "finished");
    expect(await readFile(at("page"), "utf8")).toBe("new");
    expect(await listed()).toEqual(expect.arrayContaining(before));
  },
  120_000,
);
