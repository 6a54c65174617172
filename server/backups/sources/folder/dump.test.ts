import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { appendFile, chmod, mkdir, rename, rm, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createCollector } from "../../testing/collector.ts";
import { createLocalHost } from "../../../hosts/local.ts";
import {
  run,
  isRoot,
  environment,
  createMachines,
  makeFolder,
  makeSource,
  makeSite,
  sourceIn,
} from "./testing/fixtures.ts";

test("omits a socket, and reports it", async () => {
  const { root, dump, said } = await makeSource();
  await makeSite(root, "old");
  const server = createServer().listen(join(root, "app.sock"));
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { manifest } = await dump();
  expect(said).toEqual(["Skipped app.sock: a socket has no content."]);
  expect(manifest.entries).toBe(4);
});

test.skipIf(!isRoot)(
  "omits devices, and after twenty reports only their number (root only: makes devices)",
  async ({ skip }) => {
    const { root, dump, said } = await makeSource();
    await makeSite(root, "old");
    for (let number = 0; number < 23; number += 1) {
      const made = await run("mknod", [join(root, `null-${number}`), "c", "1", "3"]).catch(
        () => null,
      );
      if (made === null) return skip("devices may not be made here");
    }
    await dump();
    expect(said).toHaveLength(21);
    expect(said.at(-1)).toBe("… and 3 more skipped (devices).");
  },
);

test("reports files that vanish, shrink, grow or move while they are read, without failing", async () => {
  const { root, source, attempt, said } = await makeSource();
  await mkdir(root);
  const bigBytes = 16 * 1024 * 1024;
  // More of each than fits into the pipes before the reader below, so that tar cannot have read them to their end.
  for (const name of ["a", "b", "c", "d"])
    await writeFile(join(root, name), Buffer.alloc(bigBytes, name));
  const gone = join(root, "gone");
  await mkdir(gone);
  for (let number = 0; number < 200; number += 1)
    await writeFile(join(gone, `${number}`), Buffer.alloc(64 * 1024, "x"));
  const opening = Promise.withResolvers<void>();
  const { into, begun, content } = createCollector(opening.promise);
  const dumping = source.dump(into, attempt());
  await begun;
  // By now all names are in tar's input, and tar waits until its output is read.
  await sleep(300);
  await truncate(join(root, "a"), bigBytes - 5);
  for (const name of ["b", "c", "d"]) await appendFile(join(root, name), "more");
  await rm(gone, { recursive: true });
  opening.resolve();
  const manifest = await dumping;
  expect(said.filter((line) => /vanished/.test(line)).length).toBeGreaterThan(5);
  expect(said.some((line) => /^… and \d+ more that vanished\.$/.test(line))).toBe(true);
  expect(said.some((line) => /changed as we read it|File shrank/.test(line))).toBe(true);
  expect(await source.drill(Readable.from([content()]), manifest, attempt())).toMatch(
    /as backed up/,
  );
});

test.each(createMachines())(
  "fails the backup when a folder of $machine is swapped for another while it is read",
  async ({ makeSource }) => {
    const { root, source, attempt } = await makeSource();
    await mkdir(root);
    await writeFile(join(root, "big"), Buffer.alloc(16 * 1024 * 1024));
    const into = new PassThrough();
    const dumping = source.dump(into, attempt());
    await once(into, "readable");
    await rename(root, `${root}-old`);
    await mkdir(root);
    into.on("error", () => undefined).resume();
    await expect(dumping).rejects.toThrow(/was replaced by another folder while it was read/);
    expect(into.errored).not.toBeNull();
  },
);

test("an unreadable file fails the backup, with its name and the fix", async () => {
  const { root, source, attempt } = await makeSource();
  await makeSite(root, "old");
  const { path, reason } = await makeUnreadable(root);
  const into = new PassThrough();
  into.on("error", () => undefined).resume();
  await expect(source.dump(into, attempt())).rejects.toThrow(reason);
  await expect(
    source.dump(new PassThrough().on("error", () => undefined).resume(), attempt()),
  ).rejects.toThrow(path);
  expect(into.errored).not.toBeNull();
  expect(into.writableFinished).toBe(false);
});

/** Makes an unreadable file: without permissions, or for root, who ignores these, with a path that is too long for the system. */
async function makeUnreadable(root: string): Promise<{ path: string; reason: RegExp }> {
  if (!isRoot) {
    await writeFile(join(root, "secret"), "", { mode: 0 });
    return { path: "secret", reason: /incomplete: .*Permission denied\. Give the site's account/ };
  }
  const part = "d".repeat(250);
  const script = `cd "$1" && i=0 && while [ $i -lt 17 ]; do mkdir ${part} && cd -P ${part} || exit 1; i=$((i+1)); done`;
  // dash does not store its working folder's path, whose length would be limited.
  await run("sh", ["-c", script, "sh", root]).catch(() => undefined);
  return { path: part, reason: /incomplete: .*File name too long|incomplete: .*ENAMETOOLONG/ };
}

test.skipIf(!isRoot)(
  "a file that the site's account may not read fails the backup with its name (root only: becomes another user)",
  async () => {
    const folder = await makeFolder();
    await chmod(folder, 0o755);
    const nobody = { uid: 65_534, gid: 65_534, name: "", home: "/" };
    const { root, source, attempt } = sourceIn(folder, createLocalHost(environment).as(nobody));
    await makeSite(root, "old");
    await writeFile(join(root, "secret"), "", { mode: 0o600 });
    const into = new PassThrough().on("error", () => undefined);
    into.resume();
    await expect(source.dump(into, attempt())).rejects.toThrow(
      /^Not everything in .* incomplete: secret: Cannot open: Permission denied\. Give the site's account the right to it\.$/,
    );
  },
);

test("a reader that stops ends the dump", async () => {
  const { root, source, attempt } = await makeSource();
  await mkdir(root);
  await writeFile(join(root, "big"), Buffer.alloc(8 * 1024 * 1024));
  const into = new Writable({
    write: (_chunk, _encoding, done) => done(new Error("the storage is full")),
  });
  into.on("error", () => undefined);
  await expect(source.dump(into, attempt())).rejects.toThrow("the storage is full");
});

test("the dump closes what it writes to", async () => {
  const { root, folder, source, attempt } = await makeSource();
  await makeSite(root, "old");
  const file = join(folder, "out.tar");
  await source.dump(createWriteStream(file), attempt());
  expect(await source.drill(createReadStream(file), null, attempt())).toMatch(
    /nothing to hold them against/,
  );
});
