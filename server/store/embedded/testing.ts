// For the tests of this folder: real databases in temporary folders, and a service in a process of its own that can be killed.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, onTestFinished } from "vitest";
import { startEmbeddedPostgres, type EmbeddedPostgresOptions } from "./embedded-postgres.ts";
import type { Log } from "./log.ts";
import type { Place } from "./place.ts";
import { endServer, isServer } from "./processes.ts";
import type { Connection } from "./questions.ts";

export const isRoot = userInfo().uid === 0;
const projectFolder = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
export const isLinux = process.platform === "linux";

export const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

const run = promisify(execFile);

type CleanUp = (run: () => Promise<void>) => void;

/** The project at a path that everybody can enter, where its own lies below a closed folder like `/root`. */
export async function openProject(isOpen: boolean): Promise<string> {
  if (isOpen) return projectFolder;
  const open = await makeFolder();
  await chmod(open, 0o711);
  const project = join(open, "project");
  await mkdir(project);
  await run("mount", ["--bind", "-o", "ro", projectFolder, project]);
  onTestFinished(async () => void (await run("umount", ["--lazy", project])));
  return project;
}

/** A folder that is removed when the test is over, or when `cleanUp` says so. */
export async function makeFolder(cleanUp: CleanUp = onTestFinished): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "quarterdeck-"));
  cleanUp(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

let model: Promise<string> | null = null;

/** A folder as a stopped database left it; quicker than a first start for each test. */
export async function copyOfDatabase(cleanUp: CleanUp = onTestFinished): Promise<string> {
  model ??= makeModel();
  const folder = join(await makeFolder(cleanUp), "postgres");
  for (const part of ["data", "secrets"])
    await cp(join(await model, part), join(folder, part), { recursive: true });
  return folder;
}

async function makeModel(): Promise<string> {
  const folder = join(await makeFolder(afterFile), "postgres");
  await (await startEmbeddedPostgres({ folder, log: silent })).stop();
  return folder;
}

const whenFileIsOver: (() => Promise<void>)[] = [];
const afterFile: CleanUp = (run) => void whenFileIsOver.push(run);
afterAll(async () => void (await Promise.all(whenFileIsOver.map((run) => run()))));

/** A database that is stopped when the test is over. */
export async function startDatabase(options: Partial<EmbeddedPostgresOptions> = {}) {
  const folder = options.folder ?? join(await makeFolder(), "postgres");
  const database = await startEmbeddedPostgres({ log: silent, ...options, folder });
  onTestFinished(() => database.stop());
  return { ...database, folder };
}

export async function query<Row extends object>(
  connection: Connection,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client(connection);
  // The end of the database between two questions; a question under way fails by itself.
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

export type TestService = {
  child: ChildProcess;
  connection: Connection;
  databasePid: number;
  said: string[];
};

/** Runs testing-service.ts on `dataFolder` until it is killed or ends. */
export async function startService(
  dataFolder: string,
  options: { uid?: number; gid?: number; umask?: string; project?: string } = {},
): Promise<TestService> {
  const { umask = "022", project = projectFolder, ...identity } = options;
  const script = join(project, "server/store/embedded/testing-service.ts");
  const node = process.execPath.replace(projectFolder, project);
  const child = spawn(node, [script, dataFolder, umask], {
    ...identity,
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => said.push(line));
  for await (const line of createInterface({ input: child.stdout })) {
    const ready: Pick<TestService, "connection" | "databasePid"> = JSON.parse(line);
    onTestFinished(() => endDatabase(dataFolder, ready.databasePid));
    return { child, said, ...ready };
  }
  throw new Error(`The service did not start: ${said.join("\n")}`);
}

/** As the kernel does it to a service that used too much memory. */
export async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** Ends what a killed service left, if nobody did: the process must still be a database of that folder. */
async function endDatabase(dataFolder: string, pid: number): Promise<void> {
  const place = { data: join(dataFolder, "postgres", "data") } as Place;
  if (await isServer(pid, place)) await endServer(place, pid, { fast: 3000, immediate: 3000 });
}
