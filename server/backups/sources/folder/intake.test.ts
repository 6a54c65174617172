import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createCollector } from "../../testing/collector.ts";
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
])("an archive of GNU tar by %s in its own format says what to do", async (option, words) => {
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
