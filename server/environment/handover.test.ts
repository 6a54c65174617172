// Searches the processes of a real service for secrets that were planted in all places where an operator may put one.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { startMariadbServer, type MariadbServer } from "../backups/testing/mariadb-server.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../backups/testing/postgres-server.ts";
import { endsWhenAsked } from "../testing/artisan.ts";
import { casesOf, inLongForm } from "../testing/long-form.ts";
import { administer, createDatabase, databaseUrl } from "../testing/service.ts";
import { startService, type ServiceProcess } from "../testing/service-process.ts";
import { workerBody } from "../testing/worker-body.ts";
import { ownUser } from "../testing/own-user.ts";
import { soon } from "../testing/soon.ts";

const isLinux = process.platform === "linux";

type Seen = {
  programs: Set<string>;
  secrets: Set<string>;
  /** Processes of others, cached because reading all of them each time would take half a processor. */
  others: Set<string>;
};

/** Searches `pid` and all processes below it, once. */
function look(pid: number, secrets: readonly string[], seen: Seen): void {
  const read = (path: string) => {
    try {
      return readFileSync(`/proc/${path}`, "utf8");
    } catch {
      // The process has exited.
      return "";
    }
  };
  const parents = new Map<number, number>();
  const isOfInterest = (name: string) => /^\d+$/.test(name) && !seen.others.has(name);
  for (const name of readdirSync("/proc").filter(isOfInterest)) {
    const stat = read(`${name}/stat`);
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  const isBelow = (at: number | undefined): boolean =>
    at !== undefined && at > 0 && (at === pid || isBelow(parents.get(at)));
  for (const at of parents.keys()) {
    if (!isBelow(at)) {
      seen.others.add(String(at));
      continue;
    }
    const command = read(`${at}/cmdline`);
    const program = /^[^\0 :]*?([^\0/ :]+)[\0 :]/.exec(command)?.[1] ?? "";
    seen.programs.add(program);
    for (const [place, content] of Object.entries({ environ: read(`${at}/environ`), command }))
      for (const secret of secrets)
        if (content.includes(secret)) seen.secrets.add(`${secret} in ${place} of ${program}`);
  }
}

/** Repeats the search until `work` has settled. */
async function lookWhile<T>(pid: number, secrets: readonly string[], work: Promise<T>) {
  const seen: Seen = { programs: new Set(), secrets: new Set(), others: new Set() };
  const over = new AbortController();
  const looking = (async () => {
    do {
      look(pid, secrets, seen);
      await sleep(10);
    } while (!over.signal.aborted);
  })();
  const result = await work.finally(() => over.abort());
  await looking;
  return { seen, result };
}

async function makeFolder(): Promise<string> {
  const folder = await realpath(
    await mkdtemp(join(tmpdir(), `quarterdeck-environment-${process.pid}-`)),
  );
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // Like the usual parent of a data folder: otherwise the database would be in another folder.
  await chmod(folder, 0o711);
  return folder;
}

async function start(folder: string, environment: Record<string, string>): Promise<ServiceProcess> {
  const service = await startService(join(folder, "data"), environment);
  onTestFinished(() => service.end("SIGINT"));
  return service;
}

const planted = () => `planted${randomBytes(24).toString("hex")}`;

type Account = { user: string; password: string };
type Engine = {
  /** A server with a database `shop`, large enough for its tools to be seen, that the account may back up and restore. */
  start(account: Account): Promise<Pick<PostgresServer | MariadbServer, "url" | "stop">>;
  /** Names of the tools that run. */
  programs: string[];
};

const engines: Record<string, Engine> = {
  ...(hasPostgresServer && {
    postgres: {
      async start({ user, password }) {
        const server = await startPostgresServer();
        await server.query(
          "postgres",
          `create role ${user} superuser login password '${password}'`,
        );
        await server.createDatabase("shop");
        await server.query(
          "shop",
          "create table orders as select n, repeat(md5(n::text), 20) from generate_series(1, 10000) n",
        );
        return server;
      },
      programs: ["pg_dump", "psql"],
    },
  }),
  mysql: {
    async start({ user, password }) {
      const server = await startMariadbServer();
      await server.query(
        null,
        `create user ${user}@'127.0.0.1' identified by '${password}'; grant all on *.* to ${user}@'127.0.0.1' with grant option`,
      );
      await server.createDatabase("shop");
      await server.query(
        "shop",
        "create table orders (n int primary key, t text); insert into orders select seq, repeat(md5(seq), 20) from seq_1_to_10000",
      );
      return server;
    },
    programs: ["mariadb-dump", "mariadb"],
  },
};

describe.skipIf(!isLinux)("the processes of a service (Linux only: reads /proc)", () => {
  test.each(casesOf(engines, ["postgres"]))(
    "expose no secret to others while a worker runs and a database of %s is backed up, drilled and restored",
    { timeout: 120_000 },
    async (engine, { start: startServer, programs }) => {
      const folder = await makeFolder();
      const before = new Set(namelessFiles());
      const account = { user: "keeper", password: planted() };
      const server = await startServer(account);
      onTestFinished(() => server.stop());
      const database = await createDatabase();
      onTestFinished(() => administer(`drop database ${database} with (force)`));
      const secrets = {
        QUARTERDECK_TOKEN: planted(),
        DATABASE_URL: databaseUrl(database),
        SMTP_URL: `smtp://ops:${planted()}@mail.example.com`,
        PGPASSWORD: planted(),
        OPS_SLACK: `https://hooks.slack.com/${planted()}`,
        SHOP: server.url("shop", account),
        NAMED_NOWHERE: planted(),
      };
      await mkdir(join(folder, "site"));
      await mkdir(join(folder, "copies"));
      await writeFile(join(folder, "site", "artisan"), endsWhenAsked());
      await writeFile(
        join(folder, "inventory.yaml"),
        `
servers:
  - { id: 1, name: here, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/site, user: ${ownUser}, artisan: [sh, artisan] }
databases:
  - { id: 1, server: 1, name: shop, engine: ${engine}, url: env:SHOP }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
notification_channels:
  - { id: 1, name: ops, type: slack, webhook: env:OPS_SLACK }
`,
      );
      const service = await start(folder, {
        ...secrets,
        QUARTERDECK_INVENTORY: join(folder, "inventory.yaml"),
      });
      const call = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
        const answer = await fetch(service.url + path, {
          method,
          headers: {
            Authorization: `Bearer ${secrets.QUARTERDECK_TOKEN}`,
            "Content-Type": "application/json",
            Accept: "application/json",
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        expect(answer.status).toBeLessThan(300);
        return answer.json();
      };
      const becomes = (path: string, state: object) =>
        soon(async () => expect(await call("GET", path)).toMatchObject(state), 30_000);

      const work = async () => {
        const worker = await call<Worker>("POST", "/api/site/1/worker", workerBody);
        await becomes(`/api/worker/${worker.id}`, { status: "installed" });
        const configuration = await call<BackupConfiguration>(
          "POST",
          "/api/server/1/backup-configuration",
          {
            name: "Shop",
            frequency: "30 2 * * *",
            storage_provider_id: 1,
            backupable_type: "database",
            backupable_id: 1,
          },
        );
        await becomes(`/api/backup-configuration/${configuration.id}`, { status: "installed" });
        const backup = await call<Backup>("POST", `/api/backup/${configuration.id}`);
        const path = `/api/backup/${backup.id}`;
        await becomes(path, { status: "finished" });
        await call("POST", `${path}/drill`);
        await becomes(path, { drill_status: "finished" });
        await call("PUT", path);
        await becomes(path, { restore_status: "finished" });
      };
      const values = [
        ...Object.values(secrets),
        account.password,
        inject("postgres").password ?? "none",
      ];
      const { seen } = await lookWhile(service.pid, values, work());
      expect([...seen.secrets]).toEqual([]);
      expect([...seen.programs]).toEqual(expect.arrayContaining(["node", "sh", ...programs]));
      expect(service.output()).not.toMatch(/planted/);
      expect(await readdir(join(folder, "data", "scratch"))).toEqual([]);
      // No file of the handover stays either; those of other processes on this machine are closed, too.
      await soon(() => expect(namelessFiles().filter((name) => !before.has(name))).toEqual([]));
    },
  );

  // `password.test.ts` of the embedded database looks into its processes, and the test above into all others.
  inLongForm(() => {
    test("expose neither the token nor the password of the embedded database", async () => {
      const folder = await makeFolder();
      const token = planted();
      const service = await start(folder, { QUARTERDECK_TOKEN: token });
      const line = await readFile(join(folder, "data/postgres/secrets/pgpass"), "utf8");
      const password = line.trimEnd().split(":").at(-1) ?? "";
      expect(password).toHaveLength(43);
      const seen: Seen = { programs: new Set(), secrets: new Set(), others: new Set() };
      look(service.pid, [token, password], seen);
      expect([...seen.secrets]).toEqual([]);
      expect([...seen.programs]).toEqual(expect.arrayContaining(["node", "postgres"]));
      expect(service.output()).not.toContain(password);
    });
  });
});

const namelessFiles = () =>
  ["/dev/shm", tmpdir()]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder))
    .filter((name) => /^quarterdeck-[0-9a-f]{32}$/.test(name));

/** Runs a script that calls the handover, and returns its output. */
async function run(script: string, environment: Record<string, string>): Promise<string> {
  const module = JSON.stringify(import.meta.resolve("./handover.ts"));
  const child = spawn(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      `import { handOver, takeEnvironment } from ${module}; import { fstatSync } from "node:fs"; ${script}`,
    ],
    { env: environment, stdio: ["pipe", "pipe", "inherit"] },
  );
  return text(child.stdout);
}

const tell = `console.log(JSON.stringify([takeEnvironment(process), process.env, fstatSync(0).isCharacterDevice()]));`;

test("a service that cannot replace itself continues with its environment", async () => {
  const script = `handOver({ ...process, env: process.env, execve: () => { throw new Error("no"); } }); ${tell}`;
  const [environment, own, isEmpty] = JSON.parse(await run(script, { SECRET: "planted" }));
  expect(environment).toMatchObject({ SECRET: "planted" });
  expect(own).toEqual(environment);
  expect(isEmpty).toBe(true);
});

test("hands over everything, and leaves what programs need in the environment", async () => {
  const folder = await makeFolder();
  const script = join(folder, "script.mjs");
  await writeFile(
    script,
    `import { handOver, takeEnvironment } from ${JSON.stringify(import.meta.resolve("./handover.ts"))};
     import { fstatSync } from "node:fs";
     const { pid } = process; handOver(process); ${tell} console.log(process.argv.slice(2).join(), process.execArgv.join());`,
  );
  const secrets = { SECRET: "line\nbreak =ü🦜", OTHER: "x".repeat(100_000) };
  const given = { ...secrets, PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8", PGHOST: "db" };
  const child = spawn(process.execPath, ["--max-semi-space-size=8", script, "a", "b"], {
    env: given,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [first = "", second] = (await text(child.stdout)).split("\n");
  const [environment, own, isEmpty] = JSON.parse(first);
  expect(environment).toMatchObject(given);
  expect(own).toEqual({
    PATH: "/usr/bin:/bin",
    LC_ALL: "C.UTF-8",
    PGHOST: "db",
    UV_THREADPOOL_SIZE: "16",
  });
  expect(isEmpty).toBe(true);
  expect(second).toBe("a,b --max-semi-space-size=8");
});

test("does not read an environment from standard input because of a variable", async () => {
  const [environment] = JSON.parse(await run(tell, { QUARTERDECK_HANDED_OVER: "1", OWN: "value" }));
  expect(environment).toMatchObject({ OWN: "value" });
  expect(environment).not.toHaveProperty("QUARTERDECK_HANDED_OVER");
});
