// Three instances of the service on one database, each with a third of the servers, and the resources that they and the
// database use.
import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../server/testing/free-port.ts";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import { cpuSecondsOf } from "./cpu-seconds.ts";
import { note } from "./report.ts";
import { databaseName, startScaleDatabase } from "./scale-database.ts";
import { scaleInventory, storeScale, type Scale } from "./scale-rows.ts";

const names = ["one", "two", "three"] as const;

/** Totals since the start of each process, or present values. */
export type Usage = {
  atMs: number;
  serviceCpuSeconds: number;
  databaseCpuSeconds: number;
  /** Resident memory of all instances. */
  serviceMb: number;
  /** Memory of the database: private memory of its processes, and shared memory once. */
  databaseMb: number;
  connections: number;
  queries: number;
  commits: number;
};

export type ScaleService = {
  /** URL of the database, for `DATABASE_URL`. */
  databaseUrl: string;
  instances: ServiceProcess[];
  /** Kills an instance by SIGKILL, and starts it again. */
  killAndStart(index: number): Promise<void>;
  query<Row extends object>(statement: string): Promise<Row[]>;
  usage(): Promise<Usage>;
  stop(): Promise<void>;
};

export async function startScaleService(scale: Scale): Promise<ScaleService> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-bench-")));
  // When run as root, the database runs as another account, which needs access to its folder.
  await chmod(folder, 0o711);
  await mkdir(join(folder, "copies"));
  await writeFile(join(folder, "inventory.yaml"), scaleInventory(scale, folder));
  const database = await startScaleDatabase(folder);
  const databaseUrl = database.url(databaseName);
  const query = <Row extends object>(statement: string) =>
    database.query<Row>(databaseName, statement);
  const start = async (name: string) =>
    startService(join(folder, `data-${name}`), {
      DATABASE_URL: databaseUrl,
      PORT: String(await freePort()),
      QUARTERDECK_INSTANCE: name,
      QUARTERDECK_INVENTORY: join(folder, "inventory.yaml"),
      // Requests are counted in the database, but never reach the limit.
      QUARTERDECK_RATE_LIMIT: "100000000",
      // Old rows are removed only when that is measured.
      QUARTERDECK_KEEP_DAYS: "1000",
    });

  // The first start creates the tables, and stores the inventory.
  await (await start("one")).end("SIGINT");
  await query("create extension pg_stat_statements");
  await storeScale(databaseUrl, scale, (statement, ms) => {
    if (ms > 5000) note(`${(ms / 1000).toFixed(0)} s for ${statement.slice(0, 50).trim()}…`);
  });
  const homes = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, `data-${name}`, "instance");
      if (name === "one") return (await readFile(path, "utf8")).trim();
      const home = randomUUID();
      await mkdir(join(folder, `data-${name}`), { mode: 0o700 });
      await writeFile(path, `${home}\n`, { mode: 0o600 });
      return home;
    }),
  );
  await query(
    `update server_leases set instance_id = null, home = ('{${homes.join(",")}}'::uuid[])[1 + server_id % ${homes.length}]`,
  );
  const instances = await Promise.all(names.map(start));

  return {
    databaseUrl,
    instances,
    query,
    async killAndStart(index) {
      await instances[index]?.end("SIGKILL");
      const name = names[index];
      if (name !== undefined) instances[index] = await start(name);
    },
    async usage() {
      const [row] = await query<{
        connections: number;
        queries: number;
        commits: number;
        pid: number;
      }>(
        `select (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
           (select sum(calls)::int from pg_stat_statements) as queries,
           (select xact_commit::int from pg_stat_database where datname = current_database()) as commits`,
      );
      const pids = await database.pids();
      const own = await Promise.all(instances.map(({ pid }) => cpuSecondsOf(pid)));
      const stored = await cpuSecondsOf(pids.main);
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
      return {
        atMs: performance.now(),
        serviceCpuSeconds: sum(own.map((cpu) => cpu.own + cpu.ended)),
        databaseCpuSeconds: stored.own + stored.ended + sum(Object.values(stored.below)),
        serviceMb: sum(await Promise.all(instances.map(({ pid }) => memoryMb(pid, "Rss")))),
        databaseMb: sum(await Promise.all(pids.all.map((pid) => memoryMb(pid, "Pss")))),
        connections: row?.connections ?? Number.NaN,
        queries: row?.queries ?? Number.NaN,
        commits: row?.commits ?? Number.NaN,
      };
    },
    async stop() {
      await Promise.all(instances.map((instance) => instance.end("SIGINT")));
      await database.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function memoryMb(pid: number, kind: "Rss" | "Pss"): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(new RegExp(`^${kind}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) / 1000;
}
