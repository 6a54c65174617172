// Real databases in temporary folders, and a service in a separate process that can be killed.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, onTestFinished } from "vitest";
import { makeFolder, projectFolder, type CleanUp } from "../../../testing/machine.ts";
import { startInstance, type InstanceOptions } from "../instance.ts";
import type { Log } from "../log.ts";
import { endServer, isServer } from "../processes.ts";
import type { Connection } from "../questions.ts";

export const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

const copy = promisify(execFile);
let model: Promise<string> | null = null;

/** Copies the folder of a stopped database, which is faster than a first start for each test. */
export async function copyOfDatabase(cleanUp: CleanUp = onTestFinished): Promise<string> {
  model ??= makeModel();
  const from = await model;
  const folder = join(await makeFolder(cleanUp), "postgres");
  await mkdir(folder);
  // Node's own copy of a thousand files takes several times as long.
  await copy("cp", ["-R", join(from, "data"), join(from, "secrets"), folder]);
  return folder;
}

async function makeModel(): Promise<string> {
  const folder = join(await makeFolder(afterFile), "postgres");
  await (await startInstance({ folder, log: silent })).stop();
  return folder;
}

const whenFileIsOver: (() => Promise<void>)[] = [];
const afterFile: CleanUp = (run) => void whenFileIsOver.push(run);
afterAll(async () => void (await Promise.all(whenFileIsOver.map((run) => run()))));

/** Starts a database that is stopped after the test. */
export async function startDatabase(options: Partial<InstanceOptions> = {}) {
  const folder = options.folder ?? join(await makeFolder(), "postgres");
  const database = await startInstance({ log: silent, ...options, folder });
  onTestFinished(() => database.stop());
  return { ...database, folder };
}

export async function query<Row extends object>(
  connection: Connection,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client(connection);
  // The database may end between two queries; a running query fails anyway.
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

type TestService = {
  child: ChildProcess;
  connection: Connection;
  databasePid: number;
  said: string[];
};

/** Runs testing/service.ts on `dataFolder` until it is killed or ends. */
export async function startService(
  dataFolder: string,
  options: { uid?: number; gid?: number; umask?: string; project?: string } = {},
): Promise<TestService> {
  const { umask = "022", project = projectFolder, ...identity } = options;
  const script = join(project, "server/store/embedded/testing/service.ts");
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

/** Ends the database that a killed service left, after checking that the process belongs to that folder. */
async function endDatabase(dataFolder: string, pid: number): Promise<void> {
  const place = { data: join(dataFolder, "postgres", "data") };
  if (await isServer(pid, place)) await endServer(place, pid, { fast: 3000, immediate: 3000 });
}
