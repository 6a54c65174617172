// Tests what `npx quarterdeck` installs: the packed tarball, installed in an empty folder and run by an operator without a
// clone.
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync, statSync } from "node:fs";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { freePort } from "../testing/free-port.ts";
import { isLongForm } from "../testing/long-form.ts";
import { isRoot } from "../testing/machine.ts";
import { administer, createDatabase, databaseUrl } from "../testing/service.ts";
import { isAlive, sendSignal } from "../testing/signals.ts";
import { packQuarterdeck } from "./pack.ts";
import {
  becomeOperator,
  binOf,
  createClient,
  environmentOf,
  linkIn,
  npmCommand,
  run as runIn,
  startPacked,
  timeout,
  type Operator,
} from "./testing/packed.ts";

const runFile = promisify(execFile);
const maxTarballBytes = 2_250_000;
const maxInstalledBytes = 140_000_000;

/** Contains only the installed package; every account may enter it. */
let folder: string;
let tarball: string;

/** Runs npm with the environment that this machine needs to reach the registry. */
function npm(...args: string[]) {
  const [program, ...all] = npmCommand(...args);
  return runFile(program, all, { cwd: folder });
}

const run = (argv: readonly string[], options: Parameters<typeof runIn>[1] = {}) =>
  runIn(argv, { cwd: folder, ...options });

beforeAll(async () => {
  folder = await mkdtemp(join(await realpath(tmpdir()), `quarterdeck-packed-${process.pid}-`));
  await chmod(folder, 0o755);
  tarball = await packQuarterdeck(folder);
  await writeFile(join(folder, "package.json"), "{}");
  await npm("install", tarball, "--prefer-offline", "--no-audit", "--no-fund", "--no-progress");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Synchronous, because awaiting thousands of files takes longer than reading their sizes. */
const sizeOf = (path: string): number =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

test("is small, and contains neither TypeScript nor tests", async () => {
  expect((await stat(tarball)).size).toBeLessThan(maxTarballBytes);
  const installed = join(folder, "node_modules");
  expect(sizeOf(installed)).toBeLessThan(maxInstalledBytes);
  const paths = await readdir(join(installed, "quarterdeck"), { recursive: true });
  expect(paths).toContain("dist/index.html");
  const unwanted = paths.filter(
    (path) => !path.startsWith("dist/") && /\.ts$|\btest\b|testing|^server\/setup/.test(path),
  );
  expect(unwanted).toEqual([]);
});

test("prints its version, and lists its commands for an unknown one", async () => {
  const version = await run([binOf(folder), "--version"]);
  expect(version).toEqual({ code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  const help = await run([binOf(folder), "no-such-command"]);
  expect(help).toMatchObject({ code: 2 });
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
});

test("prints in one sentence that a Node.js version is too old", async () => {
  const pretend = `Object.defineProperty(process, "version", { value: "v20.20.2" })`;
  const old = join(folder, "old.cjs");
  await writeFile(old, pretend);
  const ended = await run([process.execPath, "--require", old, binOf(folder)]);
  expect(ended.output).toMatch(/^Quarterdeck needs Node 24 or newer; this is v20\.20\.2\. .+\n$/);
  expect(ended.code).toBe(1);
});

/** The short form tests an ordinary account, which needs more steps than root; all else takes the same code path. */
const accounts = isLongForm && isRoot ? [null, "nobody"] : [isRoot ? "nobody" : null];

describe.each(accounts)("as %s (null: the account of the tests)", (name) => {
  let operator: Operator;
  let url: string;
  let env: Record<string, string>;
  const at = (...names: string[]) => join(operator.home, ...names);
  const command = (words: string[], more: Record<string, string> = {}) =>
    run(operator.argv(binOf(folder), ...words), {
      cwd: operator.home,
      env: { ...env, ...more },
    });
  const start = (ready: RegExp, more: Record<string, string> = {}) =>
    startPacked(
      operator.argv(binOf(folder)),
      { cwd: operator.home, env: { ...env, ...more } },
      ready,
    );
  /** The stored backup of the first test. */
  let backup: string;
  const cleanUps: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const cleanUp of cleanUps) await cleanUp();
  });

  beforeAll(async () => {
    operator = await becomeOperator(folder, name, (run) => cleanUps.unshift(run));
    const port = await freePort();
    url = `http://localhost:${port}`;
    const settings = { HOME: operator.home, PORT: String(port) };
    // An ordinary user does not configure the data folder.
    env = environmentOf(name === null ? { ...settings, QUARTERDECK_DATA: at("data") } : settings);
  });

  test("starts, serves the dashboard, signs in by its link and by that of `token`, is backed up, and stops", async () => {
    const service = await start(/#code=\w{28}\n/);
    try {
      expect(service.output()).toContain(`  ${url}/#code=`);
      const page = await fetch(url);
      expect(page.status).toBe(200);
      const [, asset] = /<script type="module"[^>]* src="([^"]+)"/.exec(await page.text()) ?? [];
      expect((await fetch(`${url}${asset}`)).status).toBe(200);
      const { send, read, signIn } = createClient(url);
      expect(await signIn(linkIn(service.output()))).toBe(201);

      // The service starts its threads and child processes from files of the package.
      const { id } = await send("/api/server/1/backup-configuration", {
        name: "orders",
        frequency: "0 3 * * *",
        storage_provider_id: 1,
        backupable_type: "database",
        backupable_id: 1,
      });
      const shown = `/api/backup-configuration/${id}`;
      await expect.poll(() => read(shown), { timeout }).toMatchObject({ status: "installed" });
      backup = `/api/backup/${(await send(`/api/backup/${id}`, {})).id}`;
      await expect.poll(() => read(backup), { timeout }).toMatchObject({ status: "finished" });

      const identity = await generateX25519Identity();
      await writeFile(at("identity"), `${identity}\n`);
      const own = await command(["backup-self", "1"], {
        QUARTERDECK_SELF_BACKUP_RECIPIENT: await identityToRecipient(identity),
      });
      expect(own).toEqual({ code: 0, output: expect.stringContaining("Encrypted.") });

      const again = await command(["token"]);
      expect(again).toMatchObject({ code: 0, output: expect.stringContaining(`  ${url}/#code=`) });
      expect(await signIn(linkIn(again.output))).toBe(201);
      expect(await signIn(linkIn(again.output))).toBe(422);
      expect(service.output()).not.toMatch(/"level":[56]0/);
    } finally {
      expect(await service.stop()).toEqual([0, null]);
    }
    expect(await readdir(at("data"))).toContain("inventory.yaml");
  });

  if (!isLongForm) return;
  test("is checked by doctor", async () => {
    const checked = await command(["doctor"]);
    expect(checked.output).toMatch(
      /^ok +Database: PostgreSQL \d+\.\d+ responds; its schema is up to date\.$/m,
    );
    expect(checked.output).toMatch(/^ok +Storage this disk: /m);
    expect(checked.output).toMatch(/^warning +Self-backup: /m);
    expect(checked).toMatchObject({ code: 0 });
  });

  test("verifies what it stored, and is restored into another folder", async () => {
    expect(await command(["verify", at("data/backups")])).toEqual({
      code: 0,
      output: expect.stringMatching(/^2 stored files in .*, all sound\.\n$/s),
    });
    const token = randomBytes(20).toString("hex");
    const elsewhere = { QUARTERDECK_DATA: at("restored"), QUARTERDECK_TOKEN: token };
    const restored = await command(["restore-self", at("data/backups")], {
      ...elsewhere,
      QUARTERDECK_IDENTITY: `file:${at("identity")}`,
    });
    expect(restored).toEqual({
      code: 0,
      output: expect.stringContaining("Start Quarterdeck with: npx quarterdeck."),
    });
    expect(await readFile(at("restored/inventory.yaml"))).toEqual(
      await readFile(at("data/inventory.yaml")),
    );
    const service = await start(/"msg":"ready"/, elsewhere);
    try {
      const { read } = createClient(url, token);
      expect(await read(backup)).toMatchObject({ status: "finished" });
    } finally {
      expect(await service.stop()).toEqual([0, null]);
    }
  });

  // Only the account of the tests can access the socket of the tests' server.
  if (name !== null) return;
  test("moves its database to a server", async () => {
    const database = "packed_target";
    await administer(`create database ${database} template template0`);
    onTestFinished(() => administer(`drop database ${database} with (force)`));
    const moved = await command(["move-database", "env:TARGET"], {
      TARGET: databaseUrl(database),
    });
    expect(moved).toEqual({ code: 0, output: expect.stringMatching(/^Moved in .+ s\.$/m) });
  });
});

test("stops when npx gets the signal, which ends only the shell between them", async () => {
  const { home } = await becomeOperator(folder, null);
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
  await expect.poll(() => isAlive(pidOf()), { timeout: 60_000 }).toBe(false);
  expect(output).toContain('"signal":"SIGTERM"');
});

test.runIf(isRoot)(
  "uses a folder that already contains other files only when told to do so",
  async () => {
    const { home, argv } = await becomeOperator(folder, "daemon");
    await mkdir(join(home, "data"));
    await writeFile(join(home, "data/report.csv"), "");
    const env = environmentOf({ HOME: home, PORT: "0" });
    const ended = await run(argv(binOf(folder)), { cwd: home, env });
    expect(ended.output).toMatch(/\/data has other files\. Run Quarterdeck in an empty folder/);
    expect(ended.code).toBe(1);
    expect(await readdir(join(home, "data"))).toEqual(["report.csv"]);
  },
);
