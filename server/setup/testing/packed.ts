// Runs the installed package like an operator: its commands, and its service.
import { spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { findAccount } from "../../hosts/account.ts";
import { leashed } from "../../testing/leash.ts";
import { type CleanUp, openProject, projectFolder } from "../../testing/machine.ts";

/** Timeout of short steps on a busy machine, in milliseconds. */
export const timeout = 60_000;

/** Uses the npm that runs this test, if npm does. */
export const npmCommand = (...args: string[]): [string, ...string[]] => {
  const path = process.env["npm_execpath"];
  return path ? [process.execPath, path, ...args] : ["npm", ...args];
};

/** Returns an operator's environment, with nothing of this run's own. */
export const environmentOf = (more: Record<string, string>) => ({
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "/",
  ...more,
});

export const binOf = (at: string) => join(at, "node_modules/.bin/quarterdeck");

type Ended = { code: number | null; output: string };

/** Runs a program to its end. */
export async function run(argv: readonly string[], options: SpawnOptions): Promise<Ended> {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { env: environmentOf({}), ...options });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (piece: Buffer) => (output += piece.toString()));
  child.stdin?.end();
  const [code]: (number | null)[] = await once(child, "close");
  return { code: code ?? null, output };
}

/** The account that runs the package, and its folder. */
export type Operator = {
  /** Returns a command line that runs as that account. */
  argv(...command: string[]): [string, ...string[]];
  /** Home of the account. */
  home: string;
};

/**
 * @param folder where the package is installed
 * @param name null = the account of the tests
 * @param cleanUp by default, runs when the test ends
 */
export async function becomeOperator(
  folder: string,
  name: string | null,
  cleanUp?: CleanUp,
): Promise<Operator> {
  const home = await mkdtemp(join(folder, "home-"));
  // The database of a service that runs as root has its own account, which needs to pass through the folder.
  await chmod(home, 0o711);
  if (name === null) return { home, argv: (...command) => [process.execPath, ...command] };
  const account = await findAccount(name);
  if (account === null) throw new Error(`There is no account ${name}.`);
  await chown(home, account.uid, account.gid);
  // Root's own folders are closed to others, and so the Node.js in them is inaccessible.
  const node = process.execPath.replace(projectFolder, await openProject(cleanUp));
  const ids = [`--reuid=${account.uid}`, `--regid=${account.gid}`, "--clear-groups"];
  return { home, argv: (...command) => ["setpriv", ...ids, node, ...command] };
}

export const linkIn = (output: string) => /#code=(\w{28})$/m.exec(output)?.[1] ?? null;

/** Starts the service, and waits for the output that it prints once it is ready. */
export async function startPacked(
  [program, ...args]: readonly [string, ...string[]],
  options: { cwd: string; env: Record<string, string> },
  ready: RegExp,
) {
  const service = spawn(...leashed("INT", program, args), options);
  let output = "";
  for (const stream of [service.stdout, service.stderr])
    stream.on("data", (piece: Buffer) => (output += piece.toString()));
  const exit = once(service, "exit");
  await expect
    .poll(() => (service.exitCode === null ? output : `ended: ${output}`), { timeout })
    .toMatch(ready);
  return {
    output: () => output,
    /** @returns exit code and signal */
    async stop() {
      service.kill("SIGTERM");
      return await exit;
    },
  };
}

type Answer = { id: number; token: string; status: number };

/** Sends requests to a service. @param token null = the token is set by the first sign-in */
export function createClient(url: string, token: string | null = null) {
  let bearer = token;
  const headersOf = (): Record<string, string> =>
    bearer === null ? {} : { Authorization: `Bearer ${bearer}` };
  const send = async (path: string, body: unknown): Promise<Answer> => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { ...headersOf(), "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer: Omit<Answer, "status"> = await response.json();
    return { ...answer, status: response.status };
  };
  return {
    send,
    read: async (path: string): Promise<{ status: string }> =>
      (await fetch(url + path, { headers: headersOf() })).json(),
    /** @returns the status */
    async signIn(code: string | null): Promise<number> {
      const answer = await send("/api/sign-in", { code });
      if (answer.status === 201) bearer = answer.token;
      return answer.status;
    },
  };
}
