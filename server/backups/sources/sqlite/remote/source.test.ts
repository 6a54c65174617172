// Tests what is specific to SQLite databases on other machines; the shared tests are beside the local source.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Account } from "../../../../hosts/account.ts";
import type { Host } from "../../../../hosts/host.ts";
import { createCollector } from "../../../testing/collector.ts";
import { createRemoteServer } from "../../../../ssh/testing/remote-server.ts";
import { signalGroup } from "../../../../testing/signals.ts";
import type { Source } from "../../source.ts";
import {
  attempt,
  contentOf,
  exec,
  folder,
  inTemporaryFolder,
  path,
  query,
  rich,
  strays,
} from "../testing/fixtures.ts";
import { folderName } from "./shell.ts";
import { createRemoteSqliteSource } from "./source.ts";
import { soon } from "../../../../testing/soon.ts";

const remote = createRemoteServer();
inTemporaryFolder(remote.host);

const run = promisify(execFile);
const isRoot = userInfo().uid === 0;
const daemon = { uid: 1, gid: 1, name: "daemon", home: "/usr/sbin" };
const never = new AbortController().signal;

/** @param environment environment of the account */
async function makeSource(
  environment: Record<string, string> = {},
  at = path,
  account: Account | null = null,
) {
  const machine = await remote.host();
  const host = account === null ? machine : machine.as(account);
  const commands: string[] = [];
  const counting: Host = {
    ...host,
    run(command) {
      commands.push(command.argv.join(" "));
      return host.run({ ...command, environment: { ...environment, ...command.environment } });
    },
  };
  const source = createRemoteSqliteSource({ host: counting, name: "shop", path: at });
  return { source, commands };
}

async function dumpOf(source: Source) {
  const { into, content } = createCollector();
  const manifest = await source.dump(into, attempt());
  return { manifest, content: content() };
}

test("a run sends three commands to the server: for the state, for a copy, and for its content", async () => {
  exec(rich);
  const { source, commands } = await makeSource();
  expect(await source.rehearse(never)).toMatch(
    /^SQLite database \S+, \d+ kB; sqlite3 3\.[\d.]+\.$/,
  );
  expect(await source.warnings(never)).toEqual([]);
  const compressed = await source.compressed?.(never);
  const { into, content } = createCollector();
  await compressed?.dump(into, attempt());
  expect(commands).toHaveLength(3);
  await writeFile(join(folder, "copy"), zstdDecompressSync(content()));
  expect(contentOf(join(folder, "copy"))).toBe(contentOf());
});

test("a database of any name is backed up, drilled and restored", async () => {
  const name = '-rf it\'s "mine" $(touch ran)`touch ran`\n 🛒 * .db';
  const at = join(folder, name);
  exec(rich, at);
  const before = contentOf(at);
  const { source } = await makeSource({}, at);
  await source.rehearse(never);
  const { manifest, content } = await dumpOf(source);
  expect(await source.drill(Readable.from([content]), manifest, attempt())).toMatch(/exactly/);
  exec("delete from customers", at);
  await source.restore(Readable.from([content]), attempt(), manifest);
  expect(contentOf(at)).toBe(before);
  await rm(at);
  await source.restore(Readable.from([content]), attempt(), manifest);
  expect(contentOf(at)).toBe(before);
  expect((await readdir(folder)).sort()).toEqual([name, "scratch"].sort());
});

test("supports any name of a table", async () => {
  const names = ["", "select", "two\nlines", "it's", 'a "b" c', "ü|1", ".quit"];
  for (const name of names)
    exec(
      `create table "${name.replaceAll('"', '""')}" (x); insert into "${name.replaceAll('"', '""')}" values (1)`,
    );
  const { source } = await makeSource();
  const { manifest } = await dumpOf(source);
  expect(manifest).toMatchObject({ tables: Object.fromEntries(names.map((name) => [name, 1])) });
});

test.runIf(isRoot)("ignores the account's own configuration of sqlite3", async () => {
  exec(rich);
  // An account without an entry in passwd, where sqlite3 would look up the home of any other.
  const own = { uid: 63_207, gid: 63_207, name: "", home: folder };
  for (const place of [folder, path]) await chown(place, own.uid, own.gid);
  await writeFile(
    join(folder, ".sqliterc"),
    `.mode json\n.headers on\n.echo on\ncreate table evil (x);\n.shell touch ${folder}/ran\n`,
  );
  const { source } = await makeSource({}, path, own);
  await source.rehearse(never);
  const { manifest, content } = await dumpOf(source);
  await source.restore(Readable.from([content]), attempt());
  expect(manifest).toMatchObject({ tables: { customers: 2, sums: 2 } });
  expect(query("select name from sqlite_schema where name = 'evil'")).toEqual([]);
  expect(await readdir(folder)).not.toContain("ran");
});

test("reports a server without sqlite3, with what installs it", async () => {
  exec(rich);
  const { content } = await dumpOf((await makeSource()).source);
  const programs = join(folder, "bin");
  await mkdir(programs);
  for (const name of ["sh", "readlink", "cat", "rm", "mkdir", "head", "stat"])
    await symlink(`/usr/bin/${name}`, join(programs, name));
  const { source } = await makeSource({ PATH: programs });
  const refused = {
    name: "SourceError",
    message:
      "sqlite3 is needed to back up and restore SQLite databases, and the server has none. Install it (Debian: apt-get install sqlite3).",
  };
  await expect(source.rehearse(never)).rejects.toMatchObject(refused);
  await expect(dumpOf(source)).rejects.toMatchObject(refused);
  await expect(source.restore(Readable.from([content]), attempt())).rejects.toMatchObject(refused);
  expect(await strays()).toEqual([]);
});

test("says so where sqlite3 is killed on the server", async () => {
  exec(rich);
  const programs = join(folder, "bin");
  await mkdir(programs);
  await writeFile(join(programs, "sqlite3"), "#!/bin/sh\nkill -KILL $$\n", { mode: 0o755 });
  const { source } = await makeSource({ PATH: `${programs}:/usr/bin:/bin` });
  await expect(dumpOf(source)).rejects.toThrow(
    `${path}: sqlite3 was killed, probably because the machine ran out of memory. Free some memory there, then try again.`,
  );
});

const readlinks = ["/usr/bin/readlink", "/bin/busybox"].filter((program) => existsSync(program));

test.each(readlinks)("keeps a link to a database, by %s", async (program) => {
  const programs = join(folder, "bin");
  await mkdir(programs);
  await symlink(program, join(programs, "readlink"));
  await mkdir(join(folder, "shared"));
  const real = join(folder, "shared/real.sqlite");
  exec(rich, real);
  await symlink("shared/real.sqlite", path);
  const before = contentOf(real);
  const { source } = await makeSource({ PATH: `${programs}:/usr/bin:/bin` });
  const { content } = await dumpOf(source);
  await rm(real);
  await source.restore(Readable.from([content]), attempt());
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
  expect(contentOf(real)).toBe(before);
  expect(await readdir(join(folder, "shared"))).toEqual(["real.sqlite"]);
});

test("leftovers of an interrupted restore show its progress", async () => {
  exec(rich);
  const { source } = await makeSource();
  const { content } = await dumpOf(source);
  const place = join(folder, folderName("restore", 7, path));
  const leave = async (note: string | null, file: Buffer | null = content) => {
    await mkdir(place, { mode: 0o700 });
    if (file !== null) await writeFile(join(place, "database"), file);
    if (note !== null) await writeFile(join(place, "note"), note);
  };
  const settled = async () => {
    const state = await source.settle(attempt());
    expect(await strays()).toEqual([]);
    return state;
  };
  const version = Number(query("pragma schema_version")[0]?.["schema_version"]);
  expect(await settled()).toBe("unknown");
  await leave(null, content.subarray(0, 5000));
  expect(await settled()).toBe("as it was");
  await leave(String(version));
  expect(await settled()).toBe("as it was");
  // The same content, under a version that the restore would have made.
  await leave(String(version - 1));
  expect(await settled()).toBe("restored");
  await leave("rename");
  expect(await settled()).toBe("as it was");
  await leave("rename", null);
  expect(await settled()).toBe("restored");
  await leave("", null);
  expect(await settled()).toBe("unknown");
  exec("insert into customers (id, name) values (99, 'later')");
  await leave(String(version - 1));
  expect(await settled()).toBe("unknown");
});

test("ends a restore that still runs on the server, and nothing else, before settling it", async () => {
  exec(rich);
  const { source } = await makeSource();
  const { content } = await dumpOf(source);
  const name = folderName("restore", 7, path);
  for (const [mark, isEnded] of [
    [name, true],
    ["something else", false],
  ] as const) {
    const running = spawn("sh", ["-c", "sleep 60; :", "sh", mark], { detached: true });
    const ended = once(running, "exit");
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, "database"), content);
    await writeFile(join(folder, name, "runner"), `${running.pid}\n`);
    expect(await source.settle(attempt())).toBe("as it was");
    if (!isEnded) {
      expect(running.signalCode).toBeNull();
      signalGroup(running.pid, "SIGKILL");
    }
    await ended;
    expect(running.signalCode).toBe("SIGKILL");
  }
});

test("the next rehearsal cleans up what was interrupted", async () => {
  exec(rich);
  const { source } = await makeSource();
  const { content } = await dumpOf(source);
  for (const use of ["dump", "drill", "restore"] as const) {
    const left = join(folder, folderName(use, 5, path));
    await mkdir(left);
    await writeFile(join(left, "database"), content);
  }
  const other = join(folder, folderName("dump", 5, "/another/database"));
  await mkdir(other);
  expect(await source.rehearse(never)).toMatch(
    /A restore of backup 5 that was cut off is settled: .*shop\.sqlite is as it was\.$/,
  );
  expect(await strays()).toEqual([folderName("dump", 5, "/another/database")]);
});

test("the server itself removes a copy when the connection to it is lost", async () => {
  exec(rich);
  const machine = await remote.host();
  const host: Host = {
    ...machine,
    run: (command) =>
      command.argv.some((word) => word.endsWith('discard "$@"'))
        ? Promise.reject(new Error("away"))
        : machine.run(command),
  };
  const source = createRemoteSqliteSource({ host, name: "shop", path, keptSeconds: 1 });
  const holder = new DatabaseSync(path);
  holder.exec("begin exclusive");
  const controller = new AbortController();
  const { into } = createCollector();
  const running = source.dump(into, attempt({ signal: controller.signal }));
  running.catch(() => undefined);
  // The cleanup runs in another process group than the canceled work.
  const left = join(folder, folderName("dump", 7, path));
  const remover = ["-f", `rm -rf -- "\\$1" sh ${left} 1$`];
  await soon(() => run("pgrep", remover));
  controller.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
  await soon(async () => expect(await strays()).toEqual([]));
  holder.close();
});

test("names a process that locks the database as the reason, for a run, too", async () => {
  exec(rich);
  const source = createRemoteSqliteSource({
    host: await remote.host(),
    name: "shop",
    path,
    busyMs: 100,
  });
  const holder = new DatabaseSync(path);
  holder.exec("begin exclusive");
  await expect(source.rehearse(never)).rejects.toThrow(/locked by another process/);
  await expect(dumpOf(source)).rejects.toThrow(/locked by another process/);
  holder.close();
  expect(await strays()).toEqual([]);
});

test.runIf(isRoot)(
  "does everything as the account, which needs no space beside the database",
  async () => {
    const site = join(folder, "site");
    const at = join(site, "shop.sqlite");
    await chmod(folder, 0o755);
    await mkdir(site);
    exec(rich, at);
    await chown(at, daemon.uid, daemon.gid);
    const source = createRemoteSqliteSource({
      host: (await remote.host()).as(daemon),
      name: "shop",
      path: at,
    });
    await source.rehearse(never);
    expect(await source.warnings(never)).toEqual([
      `A restore would be refused: daemon may not write in the folder of ${at}.`,
    ]);
    const { manifest, content } = await dumpOf(source);
    expect(await source.drill(Readable.from([content]), manifest, attempt())).toMatch(/exactly/);
    await expect(source.restore(Readable.from([content]), attempt())).rejects.toThrow(
      /could not be written: daemon may not write to its folder/,
    );
    expect(
      (await readdir("/var/tmp")).filter((name) =>
        name.endsWith(folderName("dump", 7, at).slice(-12)),
      ),
    ).toEqual([]);

    await chown(site, daemon.uid, daemon.gid);
    exec("delete from customers", at);
    await source.restore(Readable.from([content]), attempt());
    expect(query("select count(*) as n from customers", at)).toEqual([{ n: 2 }]);
    await rm(at);
    await source.restore(Readable.from([content]), attempt());
    expect(await lstat(at)).toMatchObject({ uid: daemon.uid, gid: daemon.gid });

    const secret = join(folder, "root.sqlite");
    exec("create table secret (word text)", secret);
    await chmod(secret, 0o600);
    const before = await readFile(secret);
    await rm(at);
    await symlink(secret, at);
    await expect(dumpOf(source)).rejects.toThrow("may not be opened by the account");
    await expect(source.restore(Readable.from([content]), attempt())).rejects.toThrow(
      "may not write to its folder",
    );
    expect((await readFile(secret)).equals(before)).toBe(true);
    await chmod(site, 0o000);
    await chown(site, 0, 0);
    await expect(source.exists()).rejects.toThrow(/cannot be looked at by daemon/);
  },
);
