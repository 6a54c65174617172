// Tests a site's folder of another account: the account's permissions, and where the service has to rename for it.
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLocalHost } from "../../../hosts/local.ts";
import {
  environment,
  isRoot,
  makeFolder,
  makeSite,
  never,
  run,
  sourceIn,
  wordOf,
} from "./testing/fixtures.ts";
import { inLongForm, isLongForm } from "../../../testing/long-form.ts";

const daemon = { uid: 1, gid: 1, name: "daemon", home: "/usr/sbin" };

const give = (path: string) => run("chown", ["-hR", `${daemon.uid}:${daemon.gid}`, path]);

/** Creates the site in a folder that only root can change, or in one of the account. */
async function makePlace(above: "root's" | "the account's") {
  const folder =
    above === "root's" ? await mkdtemp("/srv/quarterdeck-folder-") : await makeFolder();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const made = sourceIn(folder, createLocalHost(environment).as(daemon));
  await mkdir(made.scratchFolder, { mode: 0o700 });
  await makeSite(made.root, "new");
  await give(above === "root's" ? made.root : folder);
  await give(made.scratchFolder);
  return { folder, ...made };
}

/** Whose the folder is that contains the site's. */
const parents = isLongForm ? (["root's", "the account's"] as const) : (["the account's"] as const);

describe.runIf(isRoot)("a site of another account", () => {
  test.each(parents)(
    "is backed up, drilled and restored as that account if the parent folder is %s",
    async (above) => {
      const { folder, root, source, attempt, dump, said } = await makePlace(above);
      expect(await source.warnings?.(never)).toEqual([]);
      const { manifest, archive } = await dump();
      expect(await source.drill(Readable.from([archive]), manifest, attempt())).toContain(
        "as backed up",
      );
      await rm(root, { recursive: true });
      await makeSite(root, "old");
      await give(root);
      await source.restore(Readable.from([archive]), attempt());
      expect(await wordOf(root)).toBe("new");
      expect(await lstat(root)).toMatchObject({ uid: daemon.uid, gid: daemon.gid });
      expect(await readdir(folder)).toEqual(["scratch", "site"]);
      expect(await source.settle(attempt())).toBe("unknown");
      // A missing folder is created.
      await rm(root, { recursive: true });
      await source.restore(Readable.from([archive]), attempt());
      expect(await wordOf(root)).toBe("new");
      expect(said).toEqual([]);
    },
  );

  test.each(parents)(
    "is settled after a killed restore if the parent folder is %s",
    async (above) => {
      const { folder, root, source, attempt } = await makePlace(above);
      for (const [has, settled, word] of [
        [["ready"], "as it was", "new"],
        [["new"], "as it was", "new"],
        [["old"], "restored", "new"],
      ] as const) {
        for (const state of has) {
          const left = join(folder, `.site.quarterdeck-${state}-7`);
          await makeSite(left, "odd");
          await give(left);
        }
        expect(await source.settle(attempt())).toBe(settled);
        expect(await readdir(folder)).toEqual(["scratch", "site"]);
        expect(await wordOf(root)).toBe(word);
      }
    },
  );

  test("is restored if its account may enter the parent folder, but not list it", async () => {
    const { folder, root, source, attempt, dump } = await makePlace("root's");
    await chmod(folder, 0o711);
    const { archive } = await dump();
    await source.restore(Readable.from([archive]), attempt());
    expect(await wordOf(root)).toBe("new");
  });

  test("is not replaced by a truncated archive", async () => {
    const { folder, root, source, attempt, dump } = await makePlace("root's");
    const { archive } = await dump();
    await expect(
      source.restore(Readable.from([archive.subarray(0, 2000)]), attempt()),
    ).rejects.toThrow("could not be extracted");
    expect(await wordOf(root)).toBe("new");
    expect(await readdir(folder)).toEqual(["scratch", "site"]);
  });

  inLongForm(() => {
    test("keeps files of other accounts as its own if it may not change their owner, and says so", async () => {
      const { root, source, attempt, dump, said } = await makePlace("root's");
      await chown(join(root, "page-1"), 33, 33);
      const { archive } = await dump();
      await source.restore(Readable.from([archive]), attempt());
      expect(await wordOf(root)).toBe("new");
      expect(await stat(join(root, "page-1"))).toMatchObject({ uid: daemon.uid });
      expect(said).toEqual(["page-1 now belongs to daemon."]);
    });
  });

  test("is not restored over a folder of another owner, and the rehearsal says so", async () => {
    const { root, source, attempt, dump } = await makePlace("root's");
    const { archive } = await dump();
    await chown(root, 0, 0);
    for (const refused of [
      () => source.refuseRestore?.(attempt(), null),
      () => source.restore(Readable.from([archive]), attempt()),
    ])
      await expect(refused()).rejects.toThrow(
        /^Nothing was changed: .* belongs to user 0, and a restore as daemon would give it away/,
      );
    expect(await source.warnings?.(never)).toEqual([
      expect.stringContaining("A restore would be refused"),
    ]);
    expect(await wordOf(root)).toBe("new");
  });

  test("is not restored through its own link into a folder of root", async () => {
    const { root, source, attempt, dump } = await makePlace("the account's");
    const { archive } = await dump();
    const roots = await mkdtemp("/srv/quarterdeck-roots-");
    onTestFinished(() => rm(roots, { recursive: true, force: true }));
    await mkdir(join(roots, "target"), { mode: 0o700 });
    await writeFile(join(roots, "target/kept"), "kept");
    await rm(root, { recursive: true });
    await symlink(join(roots, "target"), root);
    await run("chown", ["-h", "1:1", root]);
    await expect(source.restore(Readable.from([archive]), attempt())).rejects.toThrow(
      /^Nothing was changed: daemon may not w/,
    );
    await expect(dump()).rejects.toThrow("may not be read by daemon");
    expect(await readdir(roots)).toEqual(["target"]);
    expect(await readFile(join(roots, "target/kept"), "utf8")).toBe("kept");
  });
});
