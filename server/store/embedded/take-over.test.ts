import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { isAlive } from "./processes.ts";
import { kill } from "../../testing/machine.ts";
import { copyOfDatabase, query, startDatabase, startService } from "./testing/instances.ts";
import { sendSignal } from "../../testing/signals.ts";
import { soon } from "../../testing/soon.ts";
import { inLongForm } from "../../testing/long-form.ts";

/** A data folder whose service stored a row and was killed; its database keeps running. */
async function leaveDatabase() {
  const dataFolder = dirname(await copyOfDatabase());
  const { child, connection, databasePid } = await startService(dataFolder);
  await query(connection, "create table t as select 1 as one");
  await kill(child);
  expect(await isAlive(databasePid)).toBe(true);
  return { folder: join(dataFolder, "postgres"), dataFolder, databasePid, connection };
}

const rows = [{ one: 1 }];

test("takes over the database of a killed service, and stops it, too", async () => {
  const { folder, databasePid } = await leaveDatabase();
  const { connection, pid, stop } = await startDatabase({ folder });
  expect(pid()).toBe(databasePid);
  expect(await query(connection, "select * from t")).toEqual(rows);
  await stop();
  expect(await isAlive(databasePid)).toBe(false);
});

inLongForm(() => {
  test("restarts a database that a service with other settings left", async () => {
    const { folder, databasePid } = await leaveDatabase();
    const noted = join(folder, "data", "postmaster.opts");
    await writeFile(noted, (await readFile(noted, "utf8")).replace("=32MB", "=16MB"));
    const { connection, pid } = await startDatabase({ folder });
    expect(pid()).not.toBe(databasePid);
    expect(await isAlive(databasePid)).toBe(false);
    expect(await query(connection, "select * from t")).toEqual(rows);
  });
});

test("kills and restarts a hanging database", async () => {
  const { folder, databasePid } = await leaveDatabase();
  sendSignal(databasePid, "SIGSTOP");
  const { connection, pid } = await startDatabase({ folder });
  expect(pid()).not.toBe(databasePid);
  expect(await query(connection, "select * from t")).toEqual(rows);
});

test("restarts a database that was killed with its service, although a worker of it still runs a query", async () => {
  const { folder, databasePid, connection } = await leaveDatabase();
  // With a worker in a long query, which outlives its server.
  const client = new Client(connection);
  client.on("error", () => {});
  await client.connect();
  const busy = client
    .query("select count(*) from generate_series(1, 1e12::bigint)")
    .catch(() => {});
  const workers = await soon(async () => {
    const found = await query<{ pid: number }>(
      connection,
      "select pid from pg_stat_activity where state = 'active' and query like '%generate_series(1,%' and pid <> pg_backend_pid()",
    );
    expect(found).toHaveLength(1);
    return found;
  });
  sendSignal(databasePid, "SIGKILL");
  const second = await startDatabase({ folder });
  expect(await query(second.connection, "select * from t")).toEqual(rows);
  await busy;
  expect(await isAlive(workers[0]?.pid ?? 0)).toBe(false);
});

test("a pid that was reused by another program does not interfere, and that program keeps running", async () => {
  const { folder, databasePid } = await leaveDatabase();
  const pidFile = join(folder, "data", "postmaster.pid");
  const text = await readFile(pidFile, "utf8");
  const other = spawn("sleep", ["600"]);
  onTestFinished(() => void other.kill());
  sendSignal(databasePid, "SIGKILL");
  await writeFile(pidFile, text.replace(String(databasePid), String(other.pid)));
  const { connection } = await startDatabase({ folder });
  expect(await query(connection, "select * from t")).toEqual(rows);
  expect(other.exitCode ?? other.signalCode).toBeNull();
});

test("two services on one data folder: the second reports that and exits, and the first continues", async () => {
  const dataFolder = dirname(await copyOfDatabase());
  const { child, connection } = await startService(dataFolder);
  await expect(startService(dataFolder)).rejects.toThrow(
    new RegExp(`DataFolderInUse: .*process ${child.pid}.* ${dataFolder}`),
  );
  expect(await query(connection, "select 1 as one")).toEqual(rows);
});
