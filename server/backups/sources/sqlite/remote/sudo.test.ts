// Tests a SQLite database of an account that is reached by sudo: all work happens as that account.
import { chown, lstat, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { createCollector } from "../../../testing/collector.ts";
import { openRemoteHost } from "../../../../ssh/remote-host.ts";
import { connectTo } from "../../../../ssh/testing/connect.ts";
import { expectGone } from "../../../../ssh/testing/remote-commands.ts";
import { startSshd } from "../../../../ssh/testing/sshd.ts";
import { isRoot } from "../../../../testing/machine.ts";
import { attempt, contentOf, exec, query, rich } from "../testing/fixtures.ts";
import { createRemoteSqliteSource } from "./source.ts";
import { soon } from "../../../../testing/soon.ts";

const shop = { uid: 64_101, gid: 64_101, name: "shop", home: "/" };
/** More than fits into all the buffers on the way. */
const noiseBytes = 30_000_000;

async function makeDatabase() {
  const sshd = await startSshd({ sudoers: "deploy ALL=(shop) NOPASSWD: ALL" });
  const host = (await openRemoteHost(await connectTo(sshd))).as(shop);
  const folder = join(sshd.folder, "shop/data");
  await mkdir(folder, { mode: 0o700 });
  const path = join(folder, "shop.sqlite");
  exec(rich, path);
  exec(
    `create table noise (bytes blob);
     with recursive n(i) as (select 1 union all select i + 1 from n where i < ${noiseBytes / 10_000})
     insert into noise select randomblob(10000) from n`,
    path,
  );
  for (const made of [folder, path]) await chown(made, shop.uid, shop.gid);
  const source = createRemoteSqliteSource({ host, name: "shop", path });
  const partOf = (...tables: string[]) =>
    createRemoteSqliteSource({ host, name: "shop", path, tables });
  const dump = async () => {
    const { into, content } = createCollector();
    const manifest = await source.dump(into, attempt());
    return { content: content(), manifest };
  };
  return { sshd, folder, path, source, partOf, dump };
}

const noise = (path: string) =>
  query("select count(*) as rows, sum(length(bytes)) as bytes from noise", path);

describe.runIf(isRoot)("a SQLite database behind sudo", () => {
  test("is rehearsed, backed up, drilled and restored as its account, completely and in single tables", async () => {
    const { folder, path, source, partOf, dump } = await makeDatabase();
    expect(await source.rehearse(attempt().signal)).toMatch(/^SQLite database .* sqlite3 3\./);
    expect(await source.warnings?.(attempt().signal)).toEqual([]);
    const before = [contentOf(path), noise(path)];
    const { content, manifest } = await dump();
    expect(manifest).toMatchObject({ tables: { customers: 2, noise: noiseBytes / 10_000 } });
    expect(await source.drill(Readable.from([content]), manifest, attempt())).toContain("restored");
    exec("delete from customers; delete from noise", path);
    await source.restore(Readable.from([content]), attempt(), manifest);
    expect([contentOf(path), noise(path)]).toEqual(before);
    exec("drop table sums; update customers set name = 'spoiled'", path);
    await partOf("customers", "sums").restore(Readable.from([content]), attempt());
    expect([contentOf(path), noise(path)]).toEqual(before);
    expect((await lstat(path)).uid).toBe(shop.uid);
    expect(await readdir(folder)).toEqual(["shop.sqlite"]);
  });

  test("leaves nothing there if the connection is cut during the transfer", async () => {
    const { sshd, folder, source } = await makeDatabase();
    // Stops reading before the cut, so that the cut comes while the copy is being sent.
    const into = new PassThrough().on("error", () => undefined);
    const running = source.dump(into, attempt());
    running.catch(() => undefined);
    await soon(() => expect(into.readableLength).toBeGreaterThan(0));
    await sshd.cut();
    into.resume();
    await expect(running).rejects.toMatchObject({ name: "ServerAway" });
    await soon(() => source.settle(attempt()));
    expect(await readdir(folder)).toEqual(["shop.sqlite"]);
    await expectGone(sshd, folder);
  });
});
