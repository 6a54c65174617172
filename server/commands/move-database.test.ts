// Moves the database to a server of another version and back, like an operator, and kills some moves.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasPostgresServer, startPostgresServer } from "../backups/testing/postgres-server.ts";
import { startEmbeddedPostgres } from "../store/embedded/embedded-postgres.ts";
import { openDatabase } from "../store/database.ts";
import { readMoveMark } from "../store/move-mark.ts";
import { patientArtisan } from "../testing/artisan.ts";
import { makeMemoryFolder } from "../testing/memory-folder.ts";
import { ownUser } from "../testing/own-user.ts";
import { makeRandom, makeSeed } from "../testing/random.ts";
import { startService, type ServiceProcess } from "../testing/service-process.ts";
import { withClient } from "../testing/with-client.ts";
import { keptCode } from "../testing/kept-code.ts";
import { moveDatabaseCommand } from "./move-database.ts";
import { runHere } from "./testing/run-here.ts";
import { fillJobTables, fillTables, readContent } from "./testing/filled-database.ts";
import { soon } from "../testing/soon.ts";

/** `npm run soak -- kills` sets more. */
const kills = Number(process.env["MOVE_KILLS"] ?? 1);
const rows = Number(process.env["MOVE_ROWS"] ?? 1000);
/** How long the program takes to start, before it moves anything. */
const programMs = 500;
const seed = makeSeed();
const random = makeRandom(seed);

const program = fileURLToPath(new URL("quarterdeck.ts", import.meta.url));
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

let folder: string;
let server: Awaited<ReturnType<typeof startPostgresServer>>;
let url: string;

const run = (args: readonly string[], environment: Record<string, string> = {}, input = "") => {
  const child = spawn(process.execPath, [program, ...args], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      QUARTERDECK_DATA: folder,
      ...keptCode,
      ...environment,
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stdin.end(input);
  return {
    child,
    ended: once(child, "close").then(([code]: (number | null)[]) => ({ code, output })),
  };
};

/** Moves in either direction, depending on where the data is. */
const move = (isEmbedded: boolean) =>
  isEmbedded
    ? run(["move-database", "-"], {}, url)
    : run(["move-database", "embedded"], { DATABASE_URL: url });

/** The same in this process, because the program takes longer to start than to move. */
const moveHere = (isEmbedded: boolean) =>
  isEmbedded
    ? runHere(moveDatabaseCommand, ["-"], { QUARTERDECK_DATA: folder }, url)
    : runHere(moveDatabaseCommand, ["embedded"], { QUARTERDECK_DATA: folder, DATABASE_URL: url });

async function withEmbedded<T>(work: (connection: pg.ClientConfig) => Promise<T>): Promise<T> {
  const postgres = await startEmbeddedPostgres({ folder: join(folder, "postgres"), log: silent });
  try {
    return await work(postgres.connection);
  } finally {
    await postgres.stop();
  }
}

const contentOf = (isEmbedded: boolean) =>
  isEmbedded ? withEmbedded(readContent) : readContent({ connectionString: url });

const lists = [
  "/api/servers",
  "/api/server/1/sites",
  "/api/server/1/databases",
  "/api/storage-providers",
  "/api/notification-channels",
  "/api/server/1/backups",
  "/api/backup-configuration/1/backups?page=3",
  "/api/site/1/webhooks",
  "/api/site-webhook/1/deliveries?page=2",
  "/api/site/1/notifications",
  "/api/search?q=hook",
];

/** Returns the lists, as a token that was created there sees them. */
async function readLists(service: ServiceProcess, token: string): Promise<unknown[]> {
  const headers = { Authorization: `Bearer ${token}`, Accept: "application/json" };
  return Promise.all(
    lists.map(async (path) => {
      const response = await fetch(service.url + path, { headers });
      return [path, response.status, (await response.text()).replaceAll(service.url, "")];
    }),
  );
}

describe.skipIf(!hasPostgresServer)("move-database", () => {
  let token: string;
  let before: unknown[];
  let original: Awaited<ReturnType<typeof readContent>>;

  beforeAll(async () => {
    server = await startPostgresServer();
    await server.createDatabase("quarterdeck");
    url = server.url("quarterdeck");
    folder = await realpath(await makeMemoryFolder("quarterdeck-move-"));
    await mkdir(join(folder, "shop"));
    await writeFile(join(folder, "shop/artisan"), patientArtisan);
    await writeFile(
      join(folder, "inventory.yaml"),
      `
servers:
  - { id: 1, name: here, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
databases:
  - { id: 1, server: 1, name: shop, engine: sqlite, path: ${folder}/shop/shop.sqlite, user: ${ownUser} }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
notification_channels:
  - { id: 1, name: ops, type: email, email: ops@example.com }
`,
    );
    await withEmbedded(async (connection) => {
      const socket = new URL("postgres://localhost");
      socket.username = connection.user ?? "";
      socket.password = String(connection.password);
      socket.pathname = connection.database ?? "";
      socket.searchParams.set("host", connection.host ?? "");
      const service = await startService(folder, { DATABASE_URL: socket.href });
      try {
        const made = await service.call("POST", "/api/tokens", { name: "ci", abilities: ["*"] });
        ({ token } = await made.json());
        await fillTables(connection, rows);
        before = await readLists(service, token);
      } finally {
        await service.end("SIGTERM");
      }
      await fillJobTables(connection);
      original = await readContent(connection);
    });
  });
  afterAll(async () => {
    await server.stop();
    // A killed command may have left the database running.
    await withEmbedded(async () => undefined);
    await rm(folder, { recursive: true, force: true });
  });

  test("every table has rows to move", () => {
    const empty = Object.entries(original.tables).filter(([, content]) => content.startsWith("0 "));
    expect(empty.map(([name]) => name)).toEqual(["pgboss.bam"]);
  });

  test("moves everything to a server of another version, where the service continues", async () => {
    const { code, output } = await move(true).ended;
    expect(output).toMatch(
      new RegExp(`^ {2}backups +${rows.toLocaleString("en")} rows +[\\d.]+ [kM]B +[\\d.]+ s$`, "m"),
    );
    expect(output).toContain("DATABASE_URL set to the new database");
    expect(output).not.toContain(new URL(url).password);
    expect(code).toBe(0);
    expect(await contentOf(false)).toEqual(original);

    await expect(startService(folder)).rejects.toThrow(
      /The data of this database was moved to the database quarterdeck at 127\.0\.0\.1:\d+ at .*\. Start Quarterdeck with DATABASE_URL/,
    );
    const service = await startService(folder, { DATABASE_URL: url });
    try {
      const refused = await moveHere(false);
      expect(refused.stderr).toMatch(/Another Quarterdeck \(process \d+\) is using .*\. Stop it/);
      expect(refused.code).toBe(1);
      expect(await readLists(service, token)).toEqual(before);
      // Its job was waiting when the database was moved.
      await soon(async () => {
        const worker = await service.call("GET", "/api/worker/5");
        expect(await worker.json()).toMatchObject({ status: "installed" });
      });
    } finally {
      await service.end("SIGINT");
    }
  });

  test("moves back over the database that was moved away, which is kept until then", async () => {
    const changed = await contentOf(false);
    expect(changed).not.toEqual(original);
    const { code, stdout } = await moveHere(false);
    expect(stdout).toContain("Start Quarterdeck without DATABASE_URL");
    expect(code).toBe(0);
    expect(await contentOf(true)).toEqual(changed);
    await expect(openDatabase({ connectionString: url }, () => undefined)).rejects.toThrow(
      "was moved to the embedded database in",
    );
  });

  test(
    `loses nothing when it is interrupted at ${kills} moments (CRASH_SEED=${seed})`,
    async () => {
      let isEmbedded = true;
      const content = await contentOf(isEmbedded);
      let wholeMs = 2000;
      for (let round = 1; round <= kills; round += 1) {
        const { child, ended } = move(isEmbedded);
        await sleep(random() * wholeMs);
        child.kill(round % 4 === 0 ? "SIGINT" : "SIGKILL");
        await ended;
        if (isEmbedded) expect(await stateOfServer()).not.toBe("partial");
        else expect(await contentOf(false)).toEqual(content);
        const startedMs = performance.now();
        const { code, stdout } = await moveHere(isEmbedded);
        wholeMs = programMs + performance.now() - startedMs;
        expect([code, stdout]).toEqual([0, expect.stringContaining("from now on")]);
        isEmbedded = !isEmbedded;
        // An embedded database is compared after the next round has moved it.
        if (!isEmbedded || round === kills) expect(await contentOf(isEmbedded)).toEqual(content);
      }
    },
    60_000 + kills * 30_000,
  );

  /** The tables and the mark `arrived` are committed together; the source has the mark `left`. */
  const stateOfServer = () =>
    withClient({ connectionString: url }, async (client) => {
      const mark = await readMoveMark(client);
      return mark === null ? "partial" : mark.state;
    });
});

test.each([
  ["embedded", "Quarterdeck uses the embedded database already"],
  ["mysql://somewhere/else", "The target must be “embedded” or a URL"],
  ["env:NOT_SET", "NOT_SET is not set"],
  ["env:UNREADABLE", "<target>: couldn't read /no/such/file (ENOENT)"],
  ["-", "The target must be “embedded” or a URL"],
  ["postgres://a/b", "There is no embedded database in /no/such/folder. Set QUARTERDECK_DATA"],
])("refuses the target %s", async (argument, words) => {
  const environment = { UNREADABLE: "file:/no/such/file", QUARTERDECK_DATA: "/no/such/folder" };
  const { code, stderr } = await runHere(moveDatabaseCommand, [argument], environment);
  expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
});
