import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createCollector } from "../../testing/collector.ts";
import { recognize } from "../../foreign/kinds.ts";
import { createFolderIntake } from "./intake.ts";
import { makeFolder, never, run } from "./testing/fixtures.ts";

test.each([
  [
    "--sparse",
    /: \.\/hole is a file with holes in GNU tar's own format\. Pack it with --format=posix/,
  ],
  [
    "--listed-incremental=snapshot",
    /: \.\/ is of an incremental archive of GNU tar\. Pack it without/,
  ],
])("says what to do about an archive of GNU tar by %s in its own format", async (option, words) => {
  const folder = await makeFolder();
  await mkdir(join(folder, "site"));
  await writeFile(join(folder, "site/hole"), "");
  await truncate(join(folder, "site/hole"), 1024 * 1024);
  const packing = ["--create", "--format=gnu", option, "--file=a.tar", "-C", "site", "."];
  await run("tar", packing, { cwd: folder });
  const content = Readable.from([await readFile(join(folder, "a.tar"))]);
  const intake = createFolderIntake({ kind: "tar", words: "a tar archive", content });
  const { into } = createCollector();
  const attempt = { id: 7, say: () => undefined, signal: never };
  await expect(intake.dump(into, attempt)).rejects.toThrow(words);
});

test("reports trailing data after the end of an archive, but not padding", async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, "page"), "page");
  await run("tar", ["--create", "--file=a.tar", "page"], { cwd: folder });
  const archive = await readFile(join(folder, "a.tar"));
  const warningOf = async (pieces: Buffer[]) => {
    const said: string[] = [];
    const attempt = { id: 7, say: (line: string) => void said.push(line), signal: never };
    const content = Readable.from(pieces);
    const intake = createFolderIntake({ kind: "tar", words: "a tar archive", content });
    const { into } = createCollector();
    expect(await intake.dump(into, attempt)).toMatchObject({ entries: 1 });
    expect(said.at(-1)).toBe("The archive is whole: 1 entry.");
    return said[0] ?? "";
  };
  expect(await warningOf([archive, Buffer.alloc(100_000)])).toMatch(/^The archive is whole/);
  const warning = /^Warning: something follows the archive's end mark.* --ignore-zeros/;
  expect(await warningOf([Buffer.concat([archive, archive])])).toMatch(warning);
  expect(await warningOf([archive, archive])).toMatch(warning);
});

test("distinguishes an archive of the oldest format from other files", async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, "page"), "page");
  await run("tar", ["--create", "--format=v7", "--file=a.tar", "page"], { cwd: folder });
  const archive = await readFile(join(folder, "a.tar"));
  expect(recognize(archive)).toMatchObject({
    is: "refused",
    words: expect.stringMatching(/tar archive of an old/),
  });
  archive.write("another", 0);
  expect(recognize(archive)).toMatchObject({
    is: "refused",
    words: expect.stringMatching(/of no kind/),
  });
  expect(recognize(Buffer.alloc(10_240))).toMatchObject({
    is: "refused",
    words: expect.stringMatching(/of no kind/),
  });
});
