// Tests a site's folder of an account that is reached by sudo: all work happens as that account, including what
// SQLite does for the databases in it.
import { execFileSync } from "node:child_process";
import { chmod, lstat, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCollector } from "../../../testing/collector.ts";
import { createSudoServer } from "../../../../ssh/testing/remote-server.ts";
import { isLongForm } from "../../../../testing/long-form.ts";
import { isRoot } from "../../../../testing/machine.ts";
import { exec, query, startPageWriter } from "../../sqlite/testing/fixtures.ts";
import { markOf, temporaryRoot } from "../../sqlite/remote/shell.ts";
import { never } from "../testing/fixtures.ts";
import { createRemoteFolderSource } from "./source.ts";

const remote = createSudoServer();

test.runIf(isRoot)(
  "distinguishes a site's folder from a missing one below a closed folder",
  async () => {
    const { folder } = await remote.home();
    const host = await remote.host();
    const closed = join(folder, "closed");
    await mkdir(join(closed, "site"), { recursive: true, mode: 0o700 });
    onTestFinished(() => rm(closed, { recursive: true }));
    const rehearse = (root: string) =>
      createRemoteFolderSource({ host, name: "shop", root }).rehearse(never);
    await expect(rehearse(join(closed, "site"))).rejects.toThrow(
      /may not be read by shop, .* on the folder and those above it/,
    );
    await expect(rehearse(join(folder, "gone: Permission denied"))).rejects.toThrow(/is not there/);
  },
);

describe.runIf(isRoot)("a folder behind sudo with SQLite in it", () => {
  // `databases.test.ts` tests both modes, one on each machine.
  test.each(isLongForm ? ["delete", "wal"] : ["wal"])(
    "is backed up, drilled and restored as its account while a database in mode %s is written to",
    async (mode) => {
      const { folder, uid } = await remote.home();
      const host = await remote.host();
      const root = join(folder, `site-${mode}`);
      await mkdir(join(root, "data"), { recursive: true });
      await writeFile(join(root, "index.php"), "<?php");
      const file = join(root, "data/shop.sqlite");
      const writer = await startPageWriter(file, mode);
      onTestFinished(async () => {
        writer.kill("SIGKILL");
        await rm(root, { recursive: true, force: true });
      });
      execFileSync("chown", ["-R", `${uid}:${uid}`, root]);
      await chmod(root, 0o700);
      const said: string[] = [];
      const attempt = { id: 7, say: (line: string) => void said.push(line), signal: never };
      const source = createRemoteFolderSource({ host, name: "shop", root });
      expect(await source.rehearse(never)).toMatch(/can be read; GNU tar/);
      expect(await source.warnings?.(never)).toEqual([]);
      const { into, content } = createCollector();
      const manifest = await source.dump(into, attempt);
      expect(manifest).toMatchObject({
        databases: [{ name: "data/shop.sqlite", problem: null }],
      });
      expect(said[0]).toMatch(/^data\/shop\.sqlite is a SQLite database, copied by SQLite/);
      expect(await source.drill(Readable.from([content()]), manifest, attempt)).toMatch(
        /1 SQLite database in it passed the integrity check\.$/,
      );
      const ended = new Promise((resolve) => writer.once("exit", resolve));
      writer.kill("SIGKILL");
      await ended;
      exec("delete from pages", file);
      await writeFile(join(root, "index.php"), "broken");
      await source.restore(Readable.from([content()]), attempt, manifest);

      expect(query("pragma integrity_check", file)).toEqual([{ integrity_check: "ok" }]);
      // A single number: all pages are of the same moment.
      expect(
        query("select count(*) as rows, count(distinct n) as numbers from pages", file),
      ).toEqual([{ rows: 1000, numbers: 1 }]);
      expect(await readFile(join(root, "index.php"), "utf8")).toBe("<?php");
      for (const made of [root, join(root, "data"), file, join(root, "index.php")])
        expect((await lstat(made)).uid).toBe(uid);
      expect((await lstat(root)).mode & 0o777).toBe(0o700);
      expect((await readdir(folder)).filter((name) => name.includes(`site-${mode}`))).toEqual([
        `site-${mode}`,
      ]);
      const left = (await readdir(temporaryRoot)).filter((name) => name.endsWith(markOf(root)));
      expect(left).toEqual([]);
    },
    60_000,
  );
});
