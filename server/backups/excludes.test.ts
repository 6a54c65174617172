import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import {
  createBackupTestService,
  nightly,
  type BackupTestService,
} from "./testing/backup-service.ts";

let service: BackupTestService;
beforeAll(async () => {
  service = await createBackupTestService();
});
afterAll(() => service?.close());

const site = { backupable_type: "site" };
const path = "/api/server/1/backup-configuration";

test("excludes are stored, changed and cleared, and refused for a database", async () => {
  const exclude = ["/vendor/", "", "# made by composer", "*.log"];
  const made = await service.installed({ ...site, exclude, exclude_caches: true });
  expect(made.exclude).toEqual(["/vendor/", "# made by composer", "*.log"]);
  expect(made.exclude_caches).toBe(true);
  const put = async (change: object) =>
    (
      await service.json<BackupConfiguration>("PUT", `/api/backup-configuration/${made.id}`, {
        name: "Shop",
        frequency: "30 2 * * *",
        storage_provider_id: 1,
        ...change,
      })
    ).body;
  // Fields omitted in the request keep their values.
  expect(await put({})).toMatchObject({ exclude: made.exclude, exclude_caches: true });
  expect(await put({ exclude: null, exclude_caches: false })).toMatchObject({
    exclude: null,
    exclude_caches: false,
  });
  expect((await put({ exclude: ["", " "] })).exclude).toBe(null);

  const wrong = { ...nightly, ...site, exclude: ["*.log", "a**b"] };
  expect(await service.errorsOf("POST", path, wrong)).toEqual({
    "exclude.1": [
      "“a**b” is not a valid pattern: “**” must be a whole part of the path, as in “a/**/b”.",
    ],
  });
  expect(
    await service.errorsOf("POST", path, { ...nightly, exclude: ["*.log"], exclude_caches: true }),
  ).toEqual({
    exclude: ["Only of a site's folder files can be left out."],
    exclude_caches: ["Only of a site's folder files can be left out."],
  });
  const database = await service.installed();
  const change = { name: "A", frequency: "0 1 * * *", storage_provider_id: 1, exclude: ["a"] };
  expect(
    Object.keys(await service.errorsOf("PUT", `/api/backup-configuration/${database.id}`, change)),
  ).toEqual(["exclude"]);
});

test("a restore leaves unchanged what its backup excluded, and can be undone after the patterns have changed", async () => {
  const at = (name: string) => join(service.folder, "shop", name);
  const text = (name: string) => readFile(at(name), "utf8").catch(() => null);
  await mkdir(at("uploads"));
  await writeFile(at("uploads/photo"), "first");
  await writeFile(at("app.log"), "first");
  const { id } = await service.installed({ ...site, exclude: ["/uploads/"] });
  const backup = await service.run(id);
  expect(backup.excluded).toEqual({ patterns: ["/uploads/"], caches: false });
  expect(backup.output).toContain("Excluded as configured: uploads.");
  const manifest: unknown = JSON.parse(
    await readFile(join(service.folder, "copies", `${backup.path}.json`), "utf8"),
  );
  expect(manifest).toMatchObject({ counts: { excluded: backup.excluded } });

  // From now on logs are excluded instead of the uploads; the earlier backup contains them.
  const body = {
    name: "Shop",
    frequency: "30 2 * * *",
    storage_provider_id: 1,
    exclude: ["*.log"],
  };
  await service.json("PUT", `/api/backup-configuration/${id}`, body);
  await writeFile(at("uploads/photo"), "second");
  await writeFile(at("app.log"), "second");
  await writeFile(at("index.php"), "second");
  expect(await service.statusOf("PUT", `/api/backup/${backup.id}`)).toBe(202);
  const restored = await service.restored(backup.id, "finished");
  // Whether the site has workers is not known here.
  expect(restored.restore_output).toMatch(/^If the site has workers, restart them/m);
  expect(await text("uploads/photo")).toBe("second");
  expect(await text("app.log")).toBe("first");
  expect(await text("index.php")).toContain("open");

  const safety = (await service.show(id)).backups.find(({ trigger }) => trigger === "safety");
  expect(safety?.excluded).toEqual(backup.excluded);
  await service.json("PUT", `/api/backup/${safety?.id}`, { skip_safety_backup: true });
  await service.restored(safety?.id ?? 0, "finished");
  expect(await text("app.log")).toBe("second");
  expect(await text("index.php")).toBe("second");
  expect(await text("uploads/photo")).toBe("second");
});

test("a file that every backup excludes is not restored alone either", async () => {
  const at = (name: string) => join(service.folder, "shop", name);
  await mkdir(at("thumbs"));
  await writeFile(at("thumbs/1.png"), "first");
  const { id } = await service.installed({ ...site, exclude_caches: true });
  const backup = await service.run(id);
  await writeFile(at("thumbs/1.png"), "second");
  await writeFile(at("thumbs/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n");
  const restore = async (status: string) => {
    const body = { backup_id: backup.id, path: "thumbs/1.png" };
    expect(await service.statusOf("POST", "/api/site/1/restore", body)).toBe(202);
    return await service.restored(backup.id, status);
  };
  expect((await restore("failed")).restore_output).toContain(
    "thumbs/1.png is in a cache by now, which the backup before the restore leaves out. Move it away first.",
  );
  expect(await readFile(at("thumbs/1.png"), "utf8")).toBe("second");
  await rm(at("thumbs/1.png"));
  await restore("finished");
  expect(await readFile(at("thumbs/1.png"), "utf8")).toBe("first");
});
