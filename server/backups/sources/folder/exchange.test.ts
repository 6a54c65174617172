// Tests restores of a folder that is mounted elsewhere, here or in a container, and must be visible there.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import {
  isLinux,
  isRoot,
  makeFolder,
  makeSite,
  makeSource,
  never,
  run,
  wordOf,
} from "./testing/fixtures.ts";

/** Starts a process in its own mount namespace with a folder mounted at another path, like a container. */
async function startContainer(folder: string, at: string): Promise<string | null> {
  const child = spawn(
    "unshare",
    [
      "--mount",
      "sh",
      "-c",
      'mount --bind "$0" "$1" && echo mounted && exec sleep 1000',
      folder,
      at,
    ],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said]: unknown[] = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  return String(said).trim() === "mounted" ? `/proc/${child.pid}/root${at}` : null;
}

test.skipIf(!isRoot || !isLinux)(
  "a folder that a container has mounted shows the restored content there (root on Linux only: mounts)",
  async ({ skip }) => {
    const { root, folder, source, attempt, dump, said } = await makeSource();
    await makeSite(root, "new");
    await chmod(root, 0o750);
    await run("touch", ["-d", "2020-02-03 04:05:06", root]);
    const { archive } = await dump();
    await rm(root, { recursive: true });
    await makeSite(root, "old");
    await mkdir(join(root, "more"));
    const at = join(folder, "app");
    await mkdir(at);
    const seen = await startContainer(root, at);
    if (seen === null) return skip("mounting is not allowed here");
    expect(await source.warnings?.(never)).toEqual([]);
    await source.restore(Readable.from([archive]), attempt());
    expect(await wordOf(root)).toBe("new");
    expect(await wordOf(seen)).toBe("new");
    const { mode, mtimeMs } = await stat(root);
    expect([mode & 0o7777, mtimeMs]).toEqual([0o750, Date.parse("2020-02-03T04:05:06")]);
    expect((await readdir(folder)).toSorted()).toEqual(["app", "site"]);
    expect(said).toEqual([]);

    await expect(
      source.restore(Readable.from([archive.subarray(0, 2000)]), attempt()),
    ).rejects.toMatchObject({ name: "SourceError" });
    expect(await wordOf(seen)).toBe("new");
  },
);

test.skipIf(!isRoot || !isLinux)(
  "a folder that is a mount point is restored in place (root on Linux only: mounts)",
  async ({ skip }) => {
    const { root, source, attempt, dump } = await makeSource();
    const disk = await makeFolder();
    await mkdir(root);
    if ((await run("mount", ["--bind", disk, root]).catch(() => null)) === null)
      return skip("mounting is not allowed here");
    onTestFinished(async () => void (await run("umount", ["--lazy", root])));
    for (const name of ["page-0", "page-1", "page-2"]) await writeFile(join(root, name), "new");
    const { archive } = await dump();
    await writeFile(join(root, "page-0"), "old");
    await writeFile(join(root, "page-9"), "old");
    expect(await source.warnings?.(never)).toEqual([]);
    await source.restore(Readable.from([archive]), attempt());
    expect(await wordOf(disk)).toBe("new");

    // New folders inside inherit the set-group-ID bit.
    await chmod(root, 0o2755);
    await mkdir(join(root, "private"), { mode: 0o700 });
    await chmod(join(root, "private"), 0o700);
    await source.restore(Readable.from([(await dump()).archive]), attempt());
    const modes = [root, join(root, "private")].map(async (path) => (await stat(path)).mode);
    expect((await Promise.all(modes)).map((mode) => mode & 0o7777)).toEqual([0o2755, 0o700]);
  },
);

test.skipIf(!isRoot || !isLinux)(
  "leftovers of a restore in place keep the next restore of the same backup from changing anything (root on Linux only: mounts, immutable files)",
  async ({ skip }) => {
    const { root, source, attempt, dump, said } = await makeSource();
    const disk = await makeFolder();
    await mkdir(root);
    if ((await run("mount", ["--bind", disk, root]).catch(() => null)) === null)
      return skip("mounting is not allowed here");
    onTestFinished(async () => void (await run("umount", ["--lazy", root])));
    await mkdir(join(root, "folder"));
    const kept = join(root, "folder/page");
    await writeFile(kept, "new");
    const { archive } = await dump();
    if ((await run("chattr", ["+i", kept]).catch(() => null)) === null)
      return skip("the file system has no immutable files");
    onTestFinished(async () => void (await run("chattr", ["-R", "-i", disk])));
    await source.restore(Readable.from([archive]), attempt());
    const named = expect.stringMatching(/\.quarterdeck-old-7 could not be removed: .*by hand/);
    expect(said.splice(0)).toEqual([named]);
    await writeFile(kept, "since");
    await expect(source.restore(Readable.from([archive]), attempt())).rejects.toThrow(
      /^Nothing was changed: what an earlier restore of this backup left/,
    );
    expect(said.splice(0)).toEqual([named]);
    expect(await readFile(kept, "utf8")).toBe("since");
    expect((await readdir(root)).toSorted()).toEqual([".quarterdeck-old-7", "folder"]);
  },
);

test("settles every state that a kill can leave in a folder to its old or its new content", async () => {
  const states: { has: Record<string, string>; root: string[]; settled: string; word: string }[] = [
    { has: { new: "new" }, root: ["old"], settled: "as it was", word: "old" },
    { has: { ready: "new" }, root: ["old"], settled: "as it was", word: "old" },
    { has: { ready: "new", leaving: "" }, root: ["old"], settled: "as it was", word: "old" },
    { has: { ready: "new", leaving: "old" }, root: [], settled: "as it was", word: "old" },
    { has: { ready: "new", old: "old" }, root: [], settled: "restored", word: "new" },
    { has: { ready: "", old: "old" }, root: ["new"], settled: "restored", word: "new" },
    { has: { old: "old" }, root: ["new"], settled: "restored", word: "new" },
  ];
  for (const { has, root: words, settled, word } of states) {
    const { root, source, attempt } = await makeSource();
    await mkdir(root);
    for (const [state, content] of Object.entries(has)) {
      const made = join(root, `.quarterdeck-${state}-7`);
      if (content === "") await mkdir(made);
      else await makeSite(made, content);
    }
    for (const content of words) {
      const made = await mkdtemp(`${root}-`);
      await makeSite(join(made, "site"), content);
      for (const name of await readdir(join(made, "site")))
        await rename(join(made, "site", name), join(root, name));
    }
    expect(await source.settle(attempt()), JSON.stringify(has)).toBe(settled);
    expect(await wordOf(root), JSON.stringify(has)).toBe(word);
    expect(await source.settle(attempt())).toBe("unknown");
  }
});

test("entries that were created during an exchange are replaced by the restored content", async () => {
  const { root, source, attempt } = await makeSource();
  await mkdir(root);
  await makeSite(join(root, ".quarterdeck-ready-7"), "new");
  await makeSite(join(root, ".quarterdeck-old-7"), "old");
  await mkdir(join(root, "page-1"));
  await writeFile(join(root, "page-1/cached"), "made anew");
  await writeFile(join(root, "page-2"), "made anew");
  expect(await source.settle(attempt())).toBe("restored");
  expect(await wordOf(root)).toBe("new");
  expect(await readFile(join(root, "page-1"), "utf8")).toMatch(/^new /);
});

test.skipIf(!isRoot || !isLinux)(
  "keeps a folder of a container's image, which its overlay can't rename, and says what to do (root on Linux only: mounts)",
  async ({ skip }) => {
    const [image, layers] = [await makeFolder(), await makeFolder()];
    await makeSite(join(image, "site"), "old");
    const { folder, root, source, attempt, dump } = await makeSource();
    const [upper, work] = [join(layers, "upper"), join(layers, "work")];
    await Promise.all([mkdir(upper), mkdir(work)]);
    const options = `lowerdir=${image},upperdir=${upper},workdir=${work},redirect_dir=off`;
    const mounting = run("mount", ["-t", "overlay", "-o", options, "overlay", folder]);
    if ((await mounting.catch(() => null)) === null) return skip("mounting is not allowed here");
    onTestFinished(async () => void (await run("umount", ["--lazy", folder])));
    const { archive } = await dump();
    await writeFile(join(root, "page-0"), "new");
    await expect(source.restore(Readable.from([archive]), attempt())).rejects.toThrow(
      `${root} was not replaced: its file system can't rename it (EXDEV), as that of a container can't rename a folder of its image. Restore into another folder, or move the site to a volume.`,
    );
    expect(await wordOf(root)).toBe("mixed");
    expect(await readdir(folder)).toEqual(["site"]);
  },
);
