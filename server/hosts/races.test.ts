// A site's account swaps parts of its own paths as fast as it can, while the service works on them as root. Nothing outside
// may be read, written, given to another owner, or started. `npm run soak -- races` tries each 10,000 times.
import { mkdirSync, openSync, readFileSync } from "node:fs";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { environment, never, run, sourceIn } from "../backups/sources/folder/testing/fixtures.ts";
import { exec, query } from "../backups/sources/sqlite/testing/fixtures.ts";
import { besiegeSqlite } from "../backups/sources/sqlite/testing/tasks.ts";
import { startSwapper } from "../testing/swapper.ts";
import { createControlGroups } from "../workers/supervisor/control-groups.ts";
import { launch } from "../workers/supervisor/launch.ts";
import { makeInstance, programOf } from "../workers/supervisor/testing/supervisor.ts";
import { createLocalHost } from "./local.ts";
import { openTrustedParent } from "./trusted-parent.ts";

const isRoot = userInfo().uid === 0;
const tries = Number(process.env["RACE_TRIES"] ?? 10);
const timeoutMs = 60_000 + tries * 1500;
/** How often operations that need no separate process are tried in each round. */
const perRound = 10;
const daemon = { uid: 1, gid: 1, name: "daemon", home: "/usr/sbin" };
const secret = "only root may read this";

/**
 * Creates the site's own folder `way`, and `trap`, a link to a folder of root with the same content. The two are swapped
 * continuously.
 */
async function makeScene() {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-race-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const [home, roots] = [join(folder, "home"), join(folder, "roots")];
  const [way, trap] = [join(home, "way"), join(home, "trap")];
  await mkdir(join(way, "site"), { recursive: true });
  await writeFile(join(way, "site/page"), "a page");
  await mkdir(join(roots, "site"), { recursive: true });
  await writeFile(join(roots, "site/page"), secret, { mode: 0o600 });
  await chmod(roots, 0o700);
  await symlink(roots, trap);
  await run("chown", ["-hR", "1:1", home]);
  const host = createLocalHost(environment).as(daemon);
  return { folder, home, roots, way, trap, host };
}

/** Returns the names, owners and contents of root's files. */
async function fingerprint(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const lines = await Promise.all(
    [".", ...names.toSorted((one, other) => one.localeCompare(other))].map(async (name) => {
      const { uid, gid, mode, mtimeMs, ino } = await lstat(join(folder, name));
      return [name, uid, gid, mode, mtimeMs, ino].join(" ");
    }),
  );
  return lines.join("\n");
}

async function whileSwapping(
  one: string,
  other: string,
  attack: () => Promise<void>,
  rounds = tries,
): Promise<void> {
  const swapper = await startSwapper(daemon, one, other);
  try {
    for (let round = 1; round <= rounds; round += 1) await attack();
    // The swapper ran during all rounds.
    expect(swapper.count()).toBeGreaterThan(rounds);
  } finally {
    await swapper.stop();
  }
}

describe.runIf(isRoot)("while its path is swapped for a link to a folder of root's", () => {
  test(
    "a worker starts only as the site's account, and never in that folder",
    async () => {
      const { folder, roots, way, trap } = await makeScene();
      const log = join(folder, "log");
      const groups = createControlGroups(makeInstance());
      onTestFinished(groups.removeEmpty);
      const program = programOf(1, {
        args: ["sh", "-c", "id -u; pwd -P; cat page"],
        directory: join(way, "site"),
        account: daemon,
      });
      const allowed = new Set([way, trap].map((place) => `1\n${join(place, "site")}\na page`));
      const seen = new Set<string>();
      await whileSwapping(way, trap, async () => {
        await rm(log, { force: true });
        await new Promise<unknown>((resolve) => {
          launch(
            {
              program,
              number: 1,
              groups,
              mark: "race/1/1/0",
              environment: { PATH: environment.PATH },
              openLog: () => openSync(log, "a", 0o600),
            },
            { failed: resolve, exited: resolve },
          );
        });
        seen.add(readFileSync(log, "utf8"));
      });
      const refused = /^env: cannot change directory to .*: Permission denied\n$/;
      expect([...seen].filter((text) => !allowed.has(text) && !refused.test(text))).toEqual([]);
      expect(await fingerprint(roots)).toContain("page 0 0");
    },
    timeoutMs,
  );

  test(
    "a backup contains nothing of that folder",
    async () => {
      const { way, trap, host } = await makeScene();
      const { source, attempt } = sourceIn(way, host);
      let taken = 0;
      await whileSwapping(way, trap, async () => {
        const into = new PassThrough();
        const content = buffer(into).catch(() => Buffer.alloc(0));
        const isTaken = await source.dump(into, attempt()).then(
          () => true,
          () => false,
        );
        if (isTaken) taken += 1;
        expect((await content).includes(secret)).toBe(false);
      });
      expect(taken).toBeLessThanOrEqual(tries);
    },
    timeoutMs,
  );

  test(
    "a restore writes nothing into that folder, and changes no owner in it",
    async () => {
      const { roots, way, trap, host } = await makeScene();
      const { source, attempt } = sourceIn(way, host);
      const into = new PassThrough();
      const [archive] = await Promise.all([buffer(into), source.dump(into, attempt())]);
      const before = await fingerprint(roots);
      await whileSwapping(way, trap, async () => {
        await source.restore(Readable.from([archive]), attempt()).catch(() => undefined);
        await source.rehearse(never).catch(() => undefined);
        expect(await fingerprint(roots)).toBe(before);
      });
      expect(await readFile(join(roots, "site/page"), "utf8")).toBe(secret);
    },
    timeoutMs,
  );

  test(
    "a SQLite database of that folder is neither read nor written",
    async () => {
      const { folder, roots, way, trap, host } = await makeScene();
      const scratchFolder = join(folder, "scratch");
      mkdirSync(scratchFolder, { mode: 0o700 });
      await chown(scratchFolder, 1, 1);
      for (const [place, word] of [
        [way, "open"],
        [roots, "hunter2"],
      ] as const)
        exec(
          `create table words (word text); insert into words values ('${word}')`,
          join(place, "site/db"),
        );
      await chown(join(way, "site/db"), 1, 1);
      await chmod(join(roots, "site/db"), 0o600);
      const options = { name: "db", path: join(way, "site/db"), scratchFolder, busyMs: 100 };
      const copy = await readFile(options.path, "base64");
      const before = await fingerprint(roots);
      const siege = { options, tries: perRound, copy, secret: "hunter2" };
      const attack = async () => {
        expect((await host.perform(besiegeSqlite, siege)).leaks).toBe(0);
        expect(await fingerprint(roots)).toBe(before);
      };
      await whileSwapping(way, trap, attack, tries / perRound);
      expect(query("select word from words", join(roots, "site/db"))).toEqual([
        { word: "hunter2" },
      ]);
    },
    timeoutMs,
  );

  test(
    "a link at the name of a restore's temporary file beside a database overwrites nothing",
    async () => {
      const { folder, home, way, roots, host } = await makeScene();
      const scratchFolder = join(folder, "scratch");
      mkdirSync(scratchFolder, { mode: 0o700 });
      await chown(scratchFolder, 1, 1);
      const path = join(way, "site/db");
      exec("create table words (word text)", path);
      await chown(path, 1, 1);
      const options = { name: "db", path, scratchFolder, busyMs: 100 };
      const copy = await readFile(path, "base64");
      const [link, spare] = [join(home, "link"), join(home, "spare")];
      await symlink(join(roots, "site/page"), link);
      await writeFile(spare, "");
      await run("chown", ["-h", "1:1", link, spare]);
      const siege = { options, tries: perRound, copy, secret, link };
      const attack = async () => {
        await host.perform(besiegeSqlite, siege);
        expect(await readFile(join(roots, "site/page"), "utf8")).toBe(secret);
      };
      await whileSwapping(link, spare, attack, tries / perRound);
    },
    timeoutMs,
  );

  test(
    "the parent folder is opened only if it can be trusted",
    async () => {
      const { way, trap, roots } = await makeScene();
      const before = await fingerprint(roots);
      await whileSwapping(way, trap, async () => {
        const parent = await openTrustedParent(join(way, "site")).catch(() => null);
        await parent?.close();
        expect(parent).toBeNull();
      });
      expect(await fingerprint(roots)).toBe(before);
    },
    timeoutMs,
  );
});
