// For the tests of the SQLite source: a temporary folder for each test, with a database that contains objects of all kinds.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach } from "vitest";
import type { Host } from "../../../../hosts/host.ts";
import { createCollector } from "../../../testing/collector.ts";
import { createRemoteServer } from "../../../../ssh/testing/remote-server.ts";
import type { Manifest, Source } from "../../source.ts";
import { createRemoteSqliteSource } from "../remote/source.ts";
import { createSqliteSource } from "../source.ts";

/** Folder of the running test. Not shared, because Vitest gives each test file its own modules. */
export let folder: string;
export let path: string;
/** Null = the service's own machine. */
let host: Host | null;

/** Returns this machine and a remote server, on both of which the tests run. Call at the top of a test file. */
export function createMachines() {
  const remote = createRemoteServer();
  return [
    { machine: "this machine", hostOf: async () => null },
    { machine: "a remote server", hostOf: remote.host },
  ];
}

/** @param hostOf host of the sources of these tests; null = this machine */
export function inTemporaryFolder(hostOf: () => Promise<Host | null> = async () => null): void {
  beforeEach(async () => {
    host = await hostOf();
    folder = await mkdtemp(join(tmpdir(), "quarterdeck-sqlite-"));
    path = join(folder, "shop.sqlite");
    await mkdir(join(folder, "scratch"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
}

export function source({
  at = path,
  ...change
}: {
  at?: string;
  busyMs?: number;
  tables?: string[];
} = {}): Source & Required<Pick<Source, "warnings">> {
  const options = { name: "shop", path: at, ...change };
  return host === null
    ? createSqliteSource({ ...options, scratchFolder: join(folder, "scratch") })
    : createRemoteSqliteSource({ ...options, host });
}
export const attempt = (change = {}) => ({
  id: 7,
  say: () => undefined,
  signal: new AbortController().signal,
  ...change,
});

/** Returns temporary files of backups and restores that are on the disk. */
export async function strays(): Promise<string[]> {
  const beside = (await readdir(folder)).filter((name) => name.includes("quarterdeck"));
  return [...beside, ...(await readdir(join(folder, "scratch")))];
}

/** Waits until a restore is about to change the database, or has ended. */
export async function untilNoted(ended: Promise<unknown>): Promise<void> {
  const isOver = ended.then(
    () => true,
    () => true,
  );
  for (;;) {
    if ((await readdir(folder, { recursive: true })).some((name) => /-restore-.*note$/.test(name)))
      return;
    if (await Promise.race([isOver, wait(1, false)])) return;
  }
}

export function exec(sql: string, file = path): void {
  const database = new DatabaseSync(file, { timeout: 5000 });
  database.exec(sql);
  database.close();
}
export function query(sql: string, file = path): Record<string, unknown>[] {
  const database = new DatabaseSync(file, { timeout: 5000 });
  const rows = database.prepare(sql).all();
  database.close();
  return rows.map((row) => ({ ...row }));
}

export const rich = `
  create table customers (id integer primary key, name text not null, photo blob, note text);
  insert into customers values (1, 'Ada 🚀 Žofie', x'00ff00fe', null), (2, '', zeroblob(5000), 'a''b"c');
  create table sums (a integer, b integer, total integer generated always as (a + b) stored, key text primary key) without rowid;
  insert into sums (a, b, key) values (1, 2, 'x'), (3, 4, 'ÿ');
  create view named as select name from customers where name <> '';
  create trigger noted after insert on customers begin update customers set note = 'new' where id = new.id; end;
  create index by_name on customers (name);
  create virtual table words using fts5(text);
  insert into words values ('the quick brown fox');
`;
/** Returns the content of a database: its schema and every row. */
export const contentOf = (file = path) =>
  JSON.stringify([
    query("select type, name, sql from sqlite_schema order by type, name", file),
    query("select id, name, hex(photo) as photo, note from customers order by id", file),
    query("select * from sums order by key", file),
    query("select * from words where words match 'fox'", file),
  ]);

export async function dump(): Promise<{ content: Buffer; manifest: Manifest }> {
  const { into, content } = createCollector();
  const manifest = await source().dump(into, attempt());
  return { content: content(), manifest };
}

/** Starts a process that writes pairs continuously, each transaction in two steps. */
export const startPairWriter = (file: string): Promise<ChildProcess> =>
  startWriter(
    file,
    `database.exec("begin immediate; insert into pairs values (" + n + ", 0); update pairs set b = a where b = 0; commit")`,
  );

/** Starts a process that changes every page continuously; each transaction sets all rows to one number. */
export async function startPageWriter(file: string, mode: string): Promise<ChildProcess> {
  exec(
    `pragma journal_mode = ${mode};
    create table pages (n integer, filler text);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)
    insert into pages select 0, printf('%3000d', i) from n`,
    file,
  );
  return startWriter(
    file,
    `database.exec("pragma synchronous = off; begin immediate; update pages set n = " + n + "; commit")`,
  );
}

/** @param statement JavaScript that works on `database`; `n` counts from 1 */
async function startWriter(file: string, statement: string): Promise<ChildProcess> {
  const script = `
    import { DatabaseSync } from "node:sqlite";
    const database = new DatabaseSync(${JSON.stringify(file)}, { timeout: 60000 });
    for (let n = 1; ; n++) {
      ${statement};
      if (n === 1) console.log("writing");
      await new Promise((resolve) => setTimeout(resolve, 2));
    }`;
  const writer = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(writer.stdout, "data");
  return writer;
}
