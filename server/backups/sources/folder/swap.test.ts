import { spawn } from "node:child_process";
import { once } from "node:events";
import { link, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { inShortFormIf, isLongForm } from "../../../testing/long-form.ts";
import {
  run,
  isRoot,
  isLinux,
  createMachines,
  never,
  makeSource,
  makeSite,
  wordOf,
} from "./testing/fixtures.ts";
import { soon } from "../../../testing/soon.ts";

/** Times after which work is aborted: on this machine, and over SSH. */
const [nearMs, farMs] = isLongForm
  ? [
      [0, 1, 2, 3, 5, 8, 13, 50],
      [0, 100, 400],
    ]
  : [[0, 5, 50], [100]];

/** Returns the offset at which the padding begins. */
function contentEnd(archive: Buffer): number {
  let end = archive.length;
  while (archive.subarray(end - 512, end).every((byte) => byte === 0)) end -= 512;
  return end;
}

const machines = createMachines();

describe.each(machines)("on $machine", ({ machine, makeSource }) => {
  // Each step takes a hundred times as long over SSH.
  const isNear = machine === "this machine";

  inShortFormIf(isNear, () => {
    test("an archive that is truncated anywhere leaves the folder unchanged and nothing beside it", async () => {
      const { root, folder, source, attempt, dump } = await makeSource();
      await makeSite(root, "new");
      const { archive } = await dump();
      await rm(root, { recursive: true });
      await makeSite(root, "old");
      const contentBytes = contentEnd(archive);
      // Between two blocks, too, and before the end mark, where tar itself would not notice.
      const lengths = [0, 100, 512, 10_000, contentBytes - 512, contentBytes];
      for (const length of isNear && isLongForm ? lengths : [512, contentBytes]) {
        await expect(
          source.restore(Readable.from([archive.subarray(0, length)]), attempt()),
        ).rejects.toThrow(/could not be extracted/);
        expect(await wordOf(root)).toBe("old");
        expect(await readdir(folder)).toEqual(["site"]);
      }
    });
  });

  test("a restore fails with the error of its source stream", async () => {
    const { root, source, attempt, dump } = await makeSource();
    await makeSite(root, "old");
    const { archive } = await dump();
    // Like the stream of a stored file, which may fail before its reader starts.
    const from = new PassThrough().on("error", () => undefined);
    from.write(archive.subarray(0, 2000));
    const restoring = source.restore(from, attempt());
    await sleep(50);
    from.destroy(new Error("storage is gone"));
    await expect(restoring).rejects.toThrow("storage is gone");
    expect(await wordOf(root)).toBe("old");
  });

  test.each(["restore", "drill", "dump"] as const)(
    "an abort in the middle of a %s ends it and changes nothing",
    async (act) => {
      const { root, folder, source, attempt, dump, scratchFolder } = await makeSource();
      await makeSite(root, "old");
      const { archive } = await dump();
      for (const afterMs of isNear ? nearMs : farMs) {
        const controller = new AbortController();
        const stream = new PassThrough({ highWaterMark: 1024 }).on("error", () => undefined);
        if (act !== "dump") stream.write(archive.subarray(0, 3000));
        const its = attempt(controller.signal);
        const acting =
          act === "restore"
            ? source.restore(stream, its)
            : act === "drill"
              ? source.drill(stream, null, its)
              : source.dump(stream, its);
        await sleep(afterMs);
        controller.abort();
        await expect(acting).rejects.toThrow(/abort/i);
        expect(stream.destroyed).toBe(true);
      }
      expect(await wordOf(root)).toBe("old");
      // Only a drill creates the folder.
      expect(await readdir(scratchFolder).catch(() => [])).toEqual([]);
      expect((await readdir(folder)).filter((name) => name !== "scratch")).toEqual(["site"]);
    },
  );

  test("creates a missing folder, and keeps a link to it", async () => {
    const { root, folder, source, attempt, dump } = await makeSource();
    await makeSite(root, "new");
    const { archive } = await dump();
    await rm(root, { recursive: true });
    await source.restore(Readable.from([archive]), attempt());
    expect(await wordOf(root)).toBe("new");

    await rm(root, { recursive: true });
    await mkdir(join(folder, "releases"));
    await makeSite(join(folder, "releases", "1"), "old");
    await symlink("releases/1", root);
    await source.restore(Readable.from([archive]), attempt());
    expect(await readlink(root)).toBe("releases/1");
    expect(await wordOf(join(folder, "releases", "1"))).toBe("new");
    expect(await readdir(join(folder, "releases"))).toEqual(["1"]);
  });

  inShortFormIf(isNear, () => {
    test("restores an archive of another program, and reports what tar does not support", async () => {
      const { root, folder, source, attempt, said } = await makeSource();
      await makeSite(root, "new");
      const file = join(folder, "archive.tar");
      // In the form that bsdtar writes.
      const known =
        "--pax-option=LIBARCHIVE.creationtime:=1700000000,hdrcharset:=BINARY,SCHILY.xattr.com.apple.provenance:=x";
      await run("tar", ["-cf", file, "--format=posix", known, "-C", root, "."]);
      const archive = await readFile(file);
      await rm(file);
      expect(await source.drill(Readable.from([archive]), null, attempt())).toMatch(/^4 entries /);
      await rm(root, { recursive: true });
      await source.restore(Readable.from([archive]), attempt());
      expect(await wordOf(root)).toBe("new");
      expect(said).toContain("Ignoring unknown extended header keyword 'LIBARCHIVE.creationtime'");
    });
  });

  inShortFormIf(isNear, () => {
    test("an archive without its folders, or with a duplicate file, passes a drill", async () => {
      const { root, folder, source, attempt } = await makeSource();
      const from = join(folder, "from");
      await makeSite(from, "new");
      await mkdir(join(from, "deep/deeper"), { recursive: true });
      await writeFile(join(from, "deep/deeper/page"), "deep");
      await link(join(from, "page-0"), join(from, "name"));
      const file = join(folder, "archive.tar");
      const pack = async (...args: string[]) => void (await run("tar", ["-C", from, ...args]));
      await pack("-cf", file, "page-0", "name", "./deep/deeper/page", "page-1");
      await writeFile(join(from, "page-0"), "shorter");
      await pack("-rf", file, "page-0", "name", "page-1");
      const archive = await readFile(file);
      for (const gone of [file, from]) await rm(gone, { recursive: true });
      // The folder itself, two folders in it, and four names of three files.
      expect(await source.drill(Readable.from([archive]), null, attempt())).toMatch(
        /^7 entries with 4011 bytes restored/,
      );
      await source.restore(Readable.from([archive]), attempt());
      expect(await readFile(join(root, "name"), "utf8")).toBe("shorter");
    });
  });

  /** Builds a tar archive that GNU tar would never write. */
  function hostileArchive(
    entries: { name: string; type?: string; link?: string; content?: string }[],
  ): Buffer {
    const blocks = entries.flatMap(({ name, type = "0", link = "", content = "" }) => {
      const header = Buffer.alloc(512);
      header.write(name, 0);
      header.write("0000755\0", 100);
      header.write("0000000\0", 108);
      header.write("0000000\0", 116);
      header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
      header.write("00000000000\0", 136);
      header.write("        ", 148);
      header.write(type, 156);
      header.write(link, 157);
      header.write("ustar\x0000", 257);
      header.write(
        `${header
          .reduce((sum, byte) => sum + byte, 0)
          .toString(8)
          .padStart(6, "0")}\0 `,
        148,
      );
      const padded = Buffer.alloc(Math.ceil(content.length / 512) * 512);
      padded.write(content);
      return [header, padded];
    });
    return Buffer.concat([...blocks, Buffer.alloc(10_240)]);
  }

  test("a malicious archive writes nothing outside and replaces nothing", async () => {
    const attacks = (victim: string) => [
      [{ name: "../victim/new", content: "x" }],
      [{ name: "x/../../victim/new", content: "x" }],
      [
        { name: "way", type: "2", link: victim },
        { name: "way/new", content: "x" },
      ],
      [
        { name: "way", type: "2", link: "../victim" },
        { name: "way/new", content: "x" },
      ],
      [
        { name: "way", type: "2", link: join(victim, "kept") },
        { name: "way", content: "x" },
      ],
      [
        { name: "way", type: "1", link: join(victim, "kept") },
        { name: "way", content: "x" },
      ],
      [{ name: "way", type: "1", link: "../victim/kept" }],
      [
        { name: ".", type: "2", link: victim },
        { name: "./new", content: "x" },
      ],
      [{ name: join(victim, "new"), content: "x" }],
    ];
    const endOf = async (index: number) => {
      const { root, folder, source, attempt } = await makeSource();
      await makeSite(root, "old");
      const victim = join(folder, "victim");
      await mkdir(victim);
      await writeFile(join(victim, "kept"), "kept");
      const archive = hostileArchive(attacks(victim)[index] ?? []);
      const end = await source.restore(Readable.from([archive]), attempt()).then(
        () => "taken",
        () => "refused",
      );
      expect(await readdir(victim)).toEqual(["kept"]);
      expect(await readFile(join(victim, "kept"), "utf8")).toBe("kept");
      expect((await readdir(folder)).sort()).toEqual(["site", "victim"]);
      if (end === "refused") expect(await wordOf(root)).toBe("old");
      return end;
    };
    // A link that a file replaces is harmless, and an absolute name is extracted below the folder.
    const refused = "refused";
    const expected = [...Array(4).fill(refused), "taken", ...Array(3).fill(refused), "taken"];
    // The same tar extracts on both machines, so over SSH only some escapes are tested: by a name, by each kind of link, and in
    // place of the folder.
    const tried = isNear || isLongForm ? [...expected.keys()] : [0, 2, 6, 7];
    expect(await Promise.all(tried.map(endOf))).toEqual(tried.map((index) => expected[index]));
  });

  // oxlint-disable-next-line vitest/no-conditional-tests -- the tests' server over SSH has mounts of its own
  if (isNear)
    test.skipIf(!isRoot || !isLinux)(
      "a mount point below the folder is dumped, but a restore is refused before it starts (root on Linux only: mounts)",
      async ({ skip }) => {
        const { root, folder, source, attempt, dump } = await makeSource();
        await makeSite(root, "old");
        const shared = join(folder, "shared files");
        await makeSite(shared, "old");
        await mkdir(join(root, "up loads"));
        const mounted = await run("mount", ["--bind", shared, join(root, "up loads")]).catch(
          () => null,
        );
        if (mounted === null) return skip("mounting is not allowed here");
        onTestFinished(async () => void (await run("umount", ["--lazy", join(root, "up loads")])));
        const { manifest, archive } = await dump();
        expect(manifest.entries).toBe(8);
        await expect(source.restore(Readable.from([archive]), attempt())).rejects.toThrow(
          /^Nothing was changed: .*up loads is mounted inside .*unmount it/,
        );
        expect(await source.warnings?.(never)).toEqual([
          expect.stringMatching(/A restore would be refused: .*up loads is mounted/),
        ]);
        expect(await wordOf(shared)).toBe("old");
      },
    );

  test.skipIf(!isRoot || !isLinux)(
    "names what a restore could not remove, and the next restore of the same backup changes nothing (root on Linux only: immutable files)",
    async ({ skip }) => {
      const { root, folder, source, attempt, dump, said } = await makeSource();
      await makeSite(root, "new");
      const { archive } = await dump();
      const old = join(folder, ".site.quarterdeck-old-7");
      if ((await run("chattr", ["+i", join(root, "page-1")]).catch(() => null)) === null)
        return skip("the file system has no immutable files");
      onTestFinished(async () => void (await run("chattr", ["-R", "-i", folder])));
      await writeFile(join(root, "page-9"), "since");
      await source.restore(Readable.from([archive]), attempt());
      expect(await wordOf(root)).toBe("new");
      const named = expect.stringMatching(/quarterdeck-old-7 could not be removed: .*by hand/);
      expect(said.splice(0)).toEqual([named]);

      await writeFile(join(root, "page-9"), "since");
      await expect(source.restore(Readable.from([archive]), attempt())).rejects.toThrow(
        /^Nothing was changed: what an earlier restore of this backup left has to be removed first\.$/,
      );
      expect(said.splice(0)).toEqual([named]);
      expect(await readFile(join(root, "page-9"), "utf8")).toBe("since");
      expect((await readdir(folder)).toSorted()).toEqual([".site.quarterdeck-old-7", "site"]);

      await run("chattr", ["-i", join(old, "page-1")]);
      await source.restore(Readable.from([archive]), attempt());
      expect(await wordOf(root)).toBe("new");
      expect(await readdir(folder)).toEqual(["site"]);
    },
  );

  test("settles every state that a kill can leave to one complete folder", async () => {
    const states: { has: Record<string, string>; settled: string; word: string | null }[] = [
      { has: { site: "old" }, settled: "unknown", word: "old" },
      { has: { site: "old", new: "new" }, settled: "as it was", word: "old" },
      { has: { site: "old", ready: "new" }, settled: "as it was", word: "old" },
      { has: { old: "old", ready: "new" }, settled: "restored", word: "new" },
      { has: { site: "new", old: "old" }, settled: "restored", word: "new" },
      { has: { old: "old" }, settled: "as it was", word: "old" },
      { has: { ready: "new" }, settled: "as it was", word: null },
      { has: { new: "new" }, settled: "as it was", word: null },
    ];
    const settle = async ({ has, settled, word }: (typeof states)[number]) => {
      const { root, folder, source, attempt } = await makeSource();
      for (const [state, content] of Object.entries(has))
        await makeSite(
          state === "site" ? root : join(folder, `.site.quarterdeck-${state}-7`),
          content,
        );
      expect(await source.settle(attempt())).toBe(settled);
      expect(await readdir(folder)).toEqual(word === null ? [] : ["site"]);
      if (word !== null) expect(await wordOf(root)).toBe(word);
      expect(await source.settle(attempt())).toBe("unknown");
    };
    await Promise.all(states.map(settle));
  });

  test("reports a folder that was created between the steps of a swap, and removes nothing", async () => {
    const { root, folder, source, attempt } = await makeSource();
    await makeSite(root, "odd");
    await makeSite(join(folder, ".site.quarterdeck-ready-7"), "new");
    await makeSite(join(folder, ".site.quarterdeck-old-7"), "old");
    await expect(source.settle(attempt())).rejects.toThrow(
      /was created again .* move the right one/,
    );
    expect(await readdir(folder)).toHaveLength(3);
  });
});

/** Each kill starts a Node process; `npm run soak -- kills` has more. */
const kills = isLongForm ? 10 : 2;

test("a restore that is killed at any moment leaves, once settled, the old folder or the new one", async () => {
  const files = 300;
  const { root, folder, source, attempt, dump, scratchFolder } = await makeSource();
  await makeSite(root, "new", files);
  const { archive } = await dump();
  await rm(root, { recursive: true });
  const archiveFile = join(folder, "archive.tar");
  await writeFile(archiveFile, archive);
  const here = fileURLToPath(new URL(".", import.meta.url));
  /** @param isHeld the archive stops at its half */
  const script = (isHeld: boolean) => `
    import { createReadStream, readFileSync } from "node:fs";
    import { Readable } from "node:stream";
    import { createFolderSource } from ${JSON.stringify(join(here, "source.ts"))};
    import { createLocalHost } from ${JSON.stringify(join(here, "../../../hosts/local.ts"))};
    const host = createLocalHost({ PATH: process.env.PATH, HOME: "/tmp" });
    const source = createFolderSource({ host, name: "shop", root: ${JSON.stringify(root)}, scratchFolder: ${JSON.stringify(scratchFolder)} });
    async function* half() {
      yield readFileSync(${JSON.stringify(archiveFile)}).subarray(0, ${archive.length >> 1});
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    }
    console.log("begins");
    await source.restore(${isHeld} ? Readable.from(half()) : createReadStream(${JSON.stringify(archiveFile)}), { id: 7, say() {}, signal: new AbortController().signal });
    console.log("ends");
  `;
  const seen: string[] = [];
  for (let round = 0; round < kills; round += 1) {
    await rm(root, { recursive: true, force: true });
    await makeSite(root, "old", files);
    const isHeld = round === 0;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script(isHeld)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(child, "close");
    await once(child.stdout, "data");
    if (isHeld) await soon(async () => expect(await readdir(folder)).toHaveLength(3));
    // Spreads the kills over a whole restore, which takes about 100 ms here.
    else await sleep((round * 150) / kills);
    child.kill("SIGKILL");
    await closed;
    const settled = await source.settle(attempt());
    const word = await wordOf(root, files);
    seen.push(`${settled}: ${word}`);
    expect(await readdir(folder)).toEqual(["archive.tar", "site"]);
  }
  const whole = new Set(["as it was: old", "restored: new", "unknown: old", "unknown: new"]);
  expect(seen.filter((end) => !whole.has(end))).toEqual([]);
  expect(seen[0]).toBe("as it was: old");
}, 120_000);
