// What `npx quarterdeck` gets: the packed tarball, installed in an empty folder and run by an operator who has no clone.
import { execFile, spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { findAccount } from "../hosts/account.ts";
import { freePort } from "../testing/free-port.ts";
import { leashed } from "../testing/leash.ts";
import { isRoot, openProject, projectFolder } from "../testing/machine.ts";
import { administer, createDatabase, databaseUrl } from "../testing/service.ts";
import { isAlive, sendSignal } from "../testing/signals.ts";
import { packQuarterdeck } from "./pack.ts";

const runFile = promisify(execFile);
/** Of what a busy machine does in moments; milliseconds. */
const timeout = 60_000;
const maxTarballBytes = 2_000_000;
const maxInstalledBytes = 140_000_000;

/** Empty but for what was installed; every account may enter it. */
let folder: string;
let tarball: string;

/** Of the npm that runs this test, where it is one. */
const npmCommand = (...args: string[]): [string, ...string[]] => {
  const path = process.env["npm_execpath"];
  return path ? [process.execPath, path, ...args] : ["npm", ...args];
};

/** With what this machine needs to reach the registry. */
function npm(...args: string[]) {
  const [program, ...all] = npmCommand(...args);
  return runFile(program, all, { cwd: folder });
}

/** An operator's: nothing of this run's own. */
const environmentOf = (more: Record<string, string>) => ({
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "/",
  ...more,
});

const binOf = (at: string) => join(at, "node_modules/.bin/quarterdeck");

type Ended = { code: number | null; output: string };

/** Runs a program to its end. */
async function run(argv: readonly string[], options: SpawnOptions = {}): Promise<Ended> {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { cwd: folder, env: environmentOf({}), ...options });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (piece: Buffer) => (output += piece.toString()));
  child.stdin?.end();
  const [code]: (number | null)[] = await once(child, "close");
  return { code: code ?? null, output };
}

beforeAll(async () => {
  folder = await mkdtemp(join(await realpath(tmpdir()), `quarterdeck-packed-${process.pid}-`));
  await chmod(folder, 0o755);
  tarball = await packQuarterdeck(folder);
  await writeFile(join(folder, "package.json"), "{}");
  await npm("install", tarball, "--prefer-offline", "--no-audit", "--no-fund", "--no-progress");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function sizeOf(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

test("is small, and has neither TypeScript nor tests", async () => {
  expect((await stat(tarball)).size).toBeLessThan(maxTarballBytes);
  const installed = join(folder, "node_modules");
  expect(await sizeOf(installed)).toBeLessThan(maxInstalledBytes);
  const paths = await readdir(join(installed, "quarterdeck"), { recursive: true });
  expect(paths).toContain("dist/index.html");
  const unwanted = paths.filter(
    (path) => !path.startsWith("dist/") && /\.ts$|\btest\b|testing|^server\/setup/.test(path),
  );
  expect(unwanted).toEqual([]);
});

test("tells its version and lists its commands", async () => {
  const { stdout: version } = await npm("exec", "--offline", "quarterdeck", "--", "--version");
  expect(version).toMatch(/^\d+\.\d+\.\d+\n$/);
  const help = await run([binOf(folder), "--help"]);
  expect(help).toMatchObject({ code: 0 });
  expect(help.output).toMatch(/^Usage: npx quarterdeck <command>\n/);
  for (const name of [
    "start",
    "token",
    "doctor",
    "move-database",
    "cancel-move",
    "verify",
    "backup-self",
    "restore-self",
  ])
    expect(help.output).toMatch(new RegExp(`^  ${name} .+\\.$`, "m"));
  expect(await run([binOf(folder), "start", "--help"])).toEqual({
    code: 0,
    output: expect.stringMatching(/^Usage: npx quarterdeck start\n[^]*^Exit codes:\n/m),
  });
  expect(await run([binOf(folder), "doctor", "--quick"])).toEqual({
    code: 2,
    output: "doctor has no option --quick; see npx quarterdeck doctor --help.\n",
  });
  const unknown = await run([binOf(folder), "no-such-command"]);
  expect(unknown).toEqual({ code: 2, output: help.output });
});

test("says in one sentence that a Node is too old", async () => {
  const pretend = `Object.defineProperty(process, "version", { value: "v20.20.2" })`;
  const old = join(folder, "old.cjs");
  await writeFile(old, pretend);
  const ended = await run([process.execPath, "--require", old, binOf(folder)]);
  expect(ended.output).toMatch(/^Quarterdeck needs Node 24 or newer; this is v20\.20\.2\. .+\n$/);
  expect(ended.code).toBe(1);
});

/** Who runs it, and from where. */
type Operator = {
  /** A command line, as that account. */
  argv(...command: string[]): [string, ...string[]];
  /** A folder of its own. */
  home: string;
};

async function becomeOperator(name: string | null): Promise<Operator> {
  const home = await mkdtemp(join(folder, "home-"));
  // The database of a service that runs as root has an account of its own.
  await chmod(home, 0o711);
  if (name === null) return { home, argv: (...command) => [process.execPath, ...command] };
  const account = await findAccount(name);
  if (account === null) throw new Error(`There is no account ${name}.`);
  await chown(home, account.uid, account.gid);
  // Root's own folders are closed to others, and so would be the Node in them.
  const node = process.execPath.replace(projectFolder, await openProject());
  const ids = [`--reuid=${account.uid}`, `--regid=${account.gid}`, "--clear-groups"];
  return { home, argv: (...command) => ["setpriv", ...ids, node, ...command] };
}

const linkIn = (output: string) => /#code=(\w{28})$/m.exec(output)?.[1] ?? null;

describe.each(isRoot ? [null, "nobody"] : [null])("as %s (null: who runs the tests)", (name) => {
  test("starts, serves the dashboard, signs in by its link and by that of token, and stops", async () => {
    const { home, argv } = await becomeOperator(name);
    const port = await freePort();
    const settings = { HOME: home, PORT: String(port) };
    // As an ordinary user without a word of where its data goes.
    const env = environmentOf(
      name === null ? { ...settings, QUARTERDECK_DATA: join(home, "data") } : settings,
    );
    const bin = binOf(folder);
    const command = (word: string) => run(argv(bin, word), { cwd: home, env });

    const before = await command("token");
    expect(before.output).toMatch(/^\nThere is no embedded database in .+\. Set QUARTERDECK_DATA/);
    expect(before.code).toBe(1);

    const [program, ...args] = argv(bin);
    const service = spawn(...leashed("INT", program, args), { cwd: home, env });
    let output = "";
    service.stderr.on("data", (piece: Buffer) => (output += piece.toString()));
    service.stdout.on("data", (piece: Buffer) => (output += piece.toString()));
    const exit = once(service, "exit");
    const until = (text: RegExp) =>
      expect
        .poll(() => (service.exitCode === null ? output : `ended: ${output}`), { timeout })
        .toMatch(text);
    try {
      await until(/#code=\w{28}\n/);
      const url = `http://localhost:${port}`;
      expect(output).toContain(`  ${url}/#code=`);
      const page = await fetch(url);
      expect(page.status).toBe(200);
      const [, asset] = /<script type="module"[^>]* src="([^"]+)"/.exec(await page.text()) ?? [];
      expect((await fetch(`${url}${asset}`)).status).toBe(200);
      const send = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
        const response = await fetch(url + path, {
          method: "POST",
          headers: { ...headers, "Content-Type": "application/json" },
          body: JSON.stringify(body),
        });
        const answer: { id: number; token: string } = await response.json();
        return { ...answer, status: response.status };
      };
      const signIn = (code: string | null) => send("/api/sign-in", { code });
      const { status, token } = await signIn(linkIn(output));
      expect(status).toBe(201);

      // Its threads and child processes start from files of the package.
      const headers = { Authorization: `Bearer ${token}` };
      const configuration = {
        name: "orders",
        frequency: "0 3 * * *",
        storage_provider_id: 1,
        backupable_type: "database",
        backupable_id: 1,
      };
      const { id } = await send("/api/server/1/backup-configuration", configuration, headers);
      const read = async (path: string): Promise<{ status: string }> =>
        (await fetch(url + path, { headers })).json();
      const shown = `/api/backup-configuration/${id}`;
      await expect.poll(() => read(shown), { timeout }).toMatchObject({ status: "installed" });
      const backup = await send(`/api/backup/${id}`, {}, headers);
      const stored = `/api/backup/${backup.id}`;
      await expect.poll(() => read(stored), { timeout }).toMatchObject({ status: "finished" });

      const again = await command("token");
      expect(again).toMatchObject({ code: 0, output: expect.stringContaining(`  ${url}/#code=`) });
      expect(await signIn(linkIn(again.output))).toMatchObject({ status: 201 });
      expect(await signIn(linkIn(again.output))).toMatchObject({ status: 422 });
      expect(output).not.toMatch(/"level":[56]0/);
    } finally {
      service.kill("SIGTERM");
    }
    expect(await exit).toEqual([0, null]);
    expect(await readdir(join(home, "data"))).toContain("inventory.yaml");

    const checked = await command("doctor");
    expect(checked.output).toMatch(
      /^ok +Database: PostgreSQL \d+\.\d+ responds; its schema is up to date\.$/m,
    );
    expect(checked.output).toMatch(/^ok +Storage this disk: /m);
    expect(checked).toMatchObject({ code: 0 });
  });
});

test("stops when npx is told to, which ends the shell between the two alone", async () => {
  const { home } = await becomeOperator(null);
  const database = await createDatabase();
  onTestFinished(() => administer(`drop database ${database} with (force)`));
  const [program, ...args] = npmCommand("exec", "--offline", "quarterdeck");
  const npx = spawn(program, args, {
    cwd: folder,
    env: environmentOf({
      PORT: "0",
      QUARTERDECK_DATA: join(home, "data"),
      DATABASE_URL: databaseUrl(database),
    }),
  });
  let output = "";
  npx.stdout.on("data", (piece: Buffer) => (output += piece.toString()));
  const pidOf = () => Number(/"pid":(\d+),.*"msg":"ready"/.exec(output)?.[1] ?? 0);
  await expect.poll(pidOf, { timeout }).toBeGreaterThan(0);
  onTestFinished(() => {
    if (isAlive(pidOf())) sendSignal(pidOf(), "SIGKILL");
  });
  npx.kill("SIGTERM");
  await expect.poll(() => isAlive(pidOf()), { timeout: 20_000 }).toBe(false);
  expect(output).toContain('"signal":"SIGTERM"');
});

test.runIf(isRoot)(
  "takes no folder with other files for its own unless it is told to",
  async () => {
    const { home, argv } = await becomeOperator("daemon");
    await mkdir(join(home, "data"));
    await writeFile(join(home, "data/report.csv"), "");
    const env = environmentOf({ HOME: home, PORT: "0" });
    const ended = await run(argv(binOf(folder)), { cwd: home, env });
    expect(ended.output).toMatch(/\/data has other files\. Run Quarterdeck in an empty folder/);
    expect(ended.code).toBe(1);
    expect(await readdir(join(home, "data"))).toEqual(["report.csv"]);
  },
);
