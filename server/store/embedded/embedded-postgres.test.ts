import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { describeDatabaseError } from "../database-error.ts";
import { startInstance, type Instance } from "./instance.ts";
import { socketName } from "./settings.ts";
import { isLinux, isRoot, makeFolder } from "../../testing/machine.ts";
import { copyOfDatabase, query, silent, startDatabase } from "./testing/instances.ts";
import { sendSignal } from "../../testing/signals.ts";

describe("a running database", () => {
  let database: Instance;
  let folder: string;
  const ask = <Row extends object>(text: string) => query<Row>(database.connection, text);

  beforeAll(async () => {
    const cleanUps: (() => Promise<void>)[] = [];
    folder = await copyOfDatabase((run) => cleanUps.push(run));
    database = await startInstance({ folder, log: silent });
    return async () => {
      await database.stop();
      for (const cleanUp of cleanUps) await cleanUp();
    };
  });

  test("uses UTF-8 and page checksums, and syncs to disk before a commit returns", async () => {
    const names = ["server_encoding", "data_checksums", "fsync", "synchronous_commit"];
    const shown = await Promise.all(
      names.map((name) => ask<Record<string, string>>(`show ${name}`)),
    );
    expect(shown.flat().flatMap((row) => Object.values(row))).toEqual(["UTF8", "on", "on", "on"]);
  });

  test("sorts text by code point on every machine", async () => {
    const sql =
      "select string_agg(x, '' order by x) as sorted from unnest(array['b','a','B','ä','A']) x";
    expect(await ask(sql)).toEqual([{ sorted: "ABabä" }]);
  });

  test("listens on no network address", async () => {
    expect(await ask("show listen_addresses")).toEqual([{ listen_addresses: "" }]);
  });

  test("keeps its folders closed to other users", async () => {
    for (const closed of [database.connection.host, join(folder, "data")]) {
      expect((await stat(closed)).mode & 0o777).toBe(0o700);
    }
    expect((await stat(join(folder, "postgres.log"))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o066).toBe(0);
  });

  test.skipIf(!isRoot)("is inaccessible to another user (root only: becomes one)", async () => {
    const address = JSON.stringify(join(database.connection.host, socketName));
    const script = `require("net").connect(${address}).on("connect", () => console.log("in")).on("error", (e) => console.log(e.code))`;
    const child = spawn("node", ["--eval", script], { uid: 65_534, gid: 65_534, cwd: "/" });
    const [said]: unknown[] = await once(child.stdout, "data");
    expect(String(said).trim()).toBe("EACCES");
  });

  test.skipIf(!isRoot)("runs as a system user of its own (root only)", async () => {
    const owner = await stat(join(folder, "data"));
    expect(owner.uid).not.toBe(0);
    expect((await stat(`/proc/${database.pid()}`)).uid).toBe(owner.uid);
    const status = await readFile(`/proc/${database.pid()}/status`, "utf8");
    // No group of root is left.
    expect(status).toMatch(/^Groups:\s*$/m);
  });

  test.skipIf(!isLinux)(
    "has its own session, so that Ctrl-C does not reach it (Linux)",
    async () => {
      const text = await readFile(`/proc/${database.pid()}/stat`, "utf8");
      const [, , group, session] = text.slice(text.lastIndexOf(")") + 2).split(" ");
      expect([group, session]).toEqual([String(database.pid()), String(database.pid())]);
    },
  );

  test.skipIf(!isLinux)("takes less than 80 MB with ten connections (Linux)", async () => {
    const clients = Array.from({ length: 10 }, () => new Client(database.connection));
    for (const client of clients) {
      await client.connect();
      await client.query(
        "select count(*) from pg_class join pg_attribute on attrelid = pg_class.oid",
      );
    }
    const pid = String(database.pid());
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
    let bytes = 0;
    for (const process of [pid, ...children.trim().split(" ")]) {
      const memory = await readFile(`/proc/${process}/smaps_rollup`, "utf8");
      bytes += Number(/^Pss:\s+(\d+) kB/m.exec(memory)?.[1]) * 1024;
    }
    await Promise.all(clients.map((client) => client.end()));
    expect(bytes).toBeGreaterThan(5e6);
    expect(bytes).toBeLessThan(80e6);
  });
});

test("keeps stored rows over a stop and a start, and gets nothing of the service's environment", async () => {
  const folder = await copyOfDatabase();
  process.env["PGDATA"] = "/elsewhere";
  process.env["QUARTERDECK_TEST_SECRET"] = "secret";
  onTestFinished(() => {
    delete process.env["PGDATA"];
    delete process.env["QUARTERDECK_TEST_SECRET"];
  });
  const first = await startDatabase({ folder });
  if (isLinux)
    expect(await readFile(`/proc/${first.pid()}/environ`, "utf8")).not.toMatch(/elsewhere|secret/);
  await query(first.connection, "create table t as select 'Grüße, 世界' as words");
  await first.stop();
  const second = await startDatabase({ folder });
  expect(second.connection).toEqual(first.connection);
  expect(await query(second.connection, "select words from t")).toEqual([{ words: "Grüße, 世界" }]);
});

describe("stop", () => {
  test("shuts it down in order although a connection is in the middle of a query", async () => {
    const folder = await copyOfDatabase();
    const { connection, stop } = await startDatabase({ folder });
    const client = new Client(connection);
    client.on("error", () => {});
    await client.connect();
    const asleep = client.query("select pg_sleep(600)").catch((error: unknown) => error);
    await Promise.all([stop(), stop()]);
    expect(describeDatabaseError(await asleep)).toMatch("is not responding");
    expect(await readdir(join(folder, "data"))).not.toContain("postmaster.pid");
  });

  test.skipIf(!isLinux)(
    "has a deadline for a hanging database (Linux)",
    async () => {
      const folder = await copyOfDatabase();
      const { pid, stop } = await startDatabase({ folder, stopDeadlineMs: 100 });
      // A stopped child keeps the server from an orderly shutdown.
      const children = await readFile(`/proc/${pid()}/task/${pid()}/children`, "utf8");
      const frozen = Number(children.split(" ")[0]);
      sendSignal(frozen, "SIGSTOP");
      await stop();
      expect(pid()).toBeNull();
      expect(await readFile(`/proc/${frozen}/stat`, "utf8").catch(() => "Z")).toMatch("Z");
    },
    90_000,
  );
});

test("refuses data of another major version with the way out, without changing it", async () => {
  const folder = await copyOfDatabase();
  await writeFile(join(folder, "data", "PG_VERSION"), "17\n");
  const before = await readdir(join(folder, "data"));
  await expect(startDatabase({ folder })).rejects.toThrow(
    /PostgreSQL 17.*includes PostgreSQL 18.*Nothing was changed.*pg_dump/s,
  );
  expect(await readdir(join(folder, "data"))).toEqual(before);
});

test("repeats an interrupted first start", async () => {
  const folder = join(await makeFolder(), "postgres");
  await mkdir(folder);
  const whole = join(await copyOfDatabase(), "data", "global");
  await cp(whole, join(folder, "data.unfinished", "global"), { recursive: true });
  const { connection } = await startDatabase({ folder });
  expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
  expect(await readdir(folder)).not.toContain("data.unfinished");
});
