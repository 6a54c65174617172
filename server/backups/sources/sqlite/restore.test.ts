import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { isLongForm } from "../../../testing/long-form.ts";
import {
  attempt,
  contentOf,
  dump,
  exec,
  folder,
  path,
  query,
  rich,
  source,
  strays,
  untilNoted,
  createMachines,
  inTemporaryFolder,
} from "./testing/fixtures.ts";

const oldAndNew = (version: string, rows = 8000) => `
  create table if not exists rows_ (version text, filler blob); delete from rows_;
  with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
  insert into rows_ select '${version}', randomblob(500) from n`;
const versions = () => query("select version, count(*) as n from rows_ group by version");

describe.each(createMachines())(
  "on $machine, a restore over a database that",
  ({ machine, hostOf }) => {
    // Tests of shared code paths run on this machine only, because SSH is slow.
    const isNear = machine === "this machine";
    inTemporaryFolder(hostOf);

    test.each(isNear ? [512, 8192] : [512])(
      "is in WAL mode with pages of %i bytes succeeds",
      async (pageBytes) => {
        exec(`${rich} create table loose (x); insert into loose (rowid, x) values (5, 'five')`);
        const before = contentOf();
        const { content } = await dump();
        await rm(path);
        exec(`pragma page_size = ${pageBytes}; pragma journal_mode = wal; create table other (x)`);
        const open = new DatabaseSync(path, { timeout: 5000 });
        open.exec("insert into other values (1)");
        await source().restore(Readable.from([content]), attempt());
        expect(open.prepare("select rowid, x from loose").get()).toEqual({ rowid: 5, x: "five" });
        open.close();
        expect(contentOf()).toBe(before);
        expect(await strays()).toEqual([]);
      },
    );

    test("another process locks waits, and then says so", async () => {
      exec(oldAndNew("old", 10));
      const { content } = await dump();
      exec(oldAndNew("new", 10));
      for (const hold of ["begin immediate", "begin; select count(*) from rows_"]) {
        const holder = new DatabaseSync(path);
        for (const statement of hold.split("; ")) holder.prepare(statement).all();
        const impatient = source({ busyMs: 100 }).restore(Readable.from([content]), attempt());
        await expect(impatient).rejects.toMatchObject({
          name: "SourceError",
          message: expect.stringMatching(/locked by another process/),
        });
        expect(versions()).toEqual([{ version: "new", n: 10 }]);
        const patient = source().restore(Readable.from([content]), attempt());
        await wait(200);
        holder.close();
        await patient;
        expect(versions()).toEqual([{ version: "old", n: 10 }]);
        exec(oldAndNew("new", 10));
      }
      expect(await strays()).toEqual([]);
    });

    test.each([
      [
        "is a text",
        () => writeFile(path, "a text file, and a long one at that".repeat(200)),
      ] as const,
      ...(isNear ? [["is cut off", () => truncate(path, 20_000)] as const] : []),
      ["is empty", () => truncate(path, 0)] as const,
    ])("%s replaces it, with its mode and owner", async (_, breakIt) => {
      exec(rich);
      const before = contentOf();
      const { content } = await dump();
      await breakIt();
      await chmod(path, 0o604);
      const { uid, gid } = await stat(path);
      await source().restore(Readable.from([content]), attempt());
      expect(contentOf()).toBe(before);
      expect(await stat(path)).toMatchObject({ uid, gid });
      expect((await stat(path)).mode & 0o777).toBe(0o604);
      expect(await strays()).toEqual([]);
    });

    test("is aborted leaves the old one or the new one, and no lock", async () => {
      exec(oldAndNew("old"));
      const { content } = await dump();
      exec(oldAndNew("new"));
      const controller = new AbortController();
      const restoring = source().restore(
        Readable.from([content]),
        attempt({ signal: controller.signal }),
      );
      const outcome = restoring.then(
        () => "It did not fail.",
        (error: Error) => error.message,
      );
      await untilNoted(restoring);
      controller.abort(new Error("enough"));
      expect(await outcome).toMatch(/enough|It did not fail/);
      expect(versions()).toEqual([{ version: expect.stringMatching(/old|new/), n: 8000 }]);
      exec("begin immediate; delete from rows_; commit");
      expect(await strays()).toEqual([]);
    });
  },
);

describe("on this machine", () => {
  inTemporaryFolder();

  test("leftovers of an interrupted restore show its progress", async () => {
    exec(rich);
    const { content } = await dump();
    const file = `${path}.quarterdeck-restore-7`;
    expect(await source().settle(attempt())).toBe("unknown");
    await writeFile(file, content.subarray(0, 5000));
    expect(await source().settle(attempt())).toBe("as it was");
    const version = String(query("pragma schema_version")[0]?.["schema_version"]);
    await writeFile(file, content);
    await writeFile(`${file}-note`, version);
    expect(await source().settle(attempt())).toBe("as it was");
    // The same content, under a version that the restore would have made.
    await writeFile(file, content);
    await writeFile(`${file}-note`, String(Number(version) - 1));
    expect(await source().settle(attempt())).toBe("restored");
    await writeFile(file, content);
    await writeFile(`${file}-note`, String(Number(version) - 1));
    exec("insert into customers (id, name) values (99, 'later')");
    expect(await source().settle(attempt())).toBe("unknown");
    await writeFile(path, "no database any more");
    await writeFile(file, content);
    expect(await source().settle(attempt())).toBe("as it was");
    expect(await strays()).toEqual([]);
  });

  /** Each kill starts a Node process, the first is killed before the note is written; `npm run soak -- kills` has more. */
  const kills = isLongForm ? 4 : 2;

  test.each(["delete", "wal"])(
    "a restore that is killed at any moment in journal mode %s leaves the old or the new database, and says which",
    async (mode) => {
      exec(`pragma journal_mode = ${mode}; ${oldAndNew("old")}`);
      const { content } = await dump();
      const copy = join(folder, "copy");
      await writeFile(copy, content);
      const script = `
      import { createSqliteSource } from ${JSON.stringify(new URL("source.ts", import.meta.url).href)};
      import { createReadStream } from "node:fs";
      const source = createSqliteSource(${JSON.stringify({ name: "shop", path, scratchFolder: join(folder, "scratch") })});
      console.log("begun");
      await source.restore(createReadStream(${JSON.stringify(copy)}), { id: 7, say() {}, signal: new AbortController().signal });`;
      for (let round = 0; round < kills; round++) {
        exec(oldAndNew("new"));
        const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        const exited = once(child, "exit");
        await Promise.race([once(child.stdout, "data"), exited]);
        if (round % 4 > 0) await untilNoted(exited);
        await wait((round * 3) % 20);
        child.kill("SIGKILL");
        await exited;
        const state = await source().settle(attempt());
        expect(query("pragma integrity_check")).toEqual([{ integrity_check: "ok" }]);
        const [found, ...others] = versions();
        expect(others).toEqual([]);
        expect(found?.["n"]).toBe(8000);
        if (state !== "unknown")
          expect(found?.["version"]).toBe(state === "restored" ? "old" : "new");
        expect(await strays()).toEqual([]);
      }
    },
  );
});
