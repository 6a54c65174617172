import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { accountName, systemAccount } from "./account.ts";
import type { CommandResult } from "./command.ts";
import { makeFolder } from "../../testing/machine.ts";
import { silent } from "./testing/instances.ts";

/** A machine with the given commands. */
function machine(commands: Record<string, (args: readonly string[]) => CommandResult>) {
  const calls: string[] = [];
  const run = async (command: string, args: readonly string[]): Promise<CommandResult> => {
    calls.push([command, ...args].join(" "));
    return commands[command]?.(args) ?? { exitCode: null, output: `spawn ${command} ENOENT` };
  };
  return { run, calls };
}

const ok = (output = ""): CommandResult => ({ exitCode: 0, output });

test("creates the system user once, with the command that the machine has", async () => {
  let isThere = false;
  const make = () => {
    isThere = true;
    return ok();
  };
  const id = () => (isThere ? ok("998\n") : { exitCode: 1, output: "no such user" });
  const busybox = machine({ id, adduser: make });
  expect(await systemAccount(silent, busybox.run)).toEqual({ uid: 998, gid: 998, isOwn: false });
  expect(busybox.calls.at(-3)).toBe(
    `adduser -S -D -H -h /nonexistent -s /sbin/nologin ${accountName}`,
  );
  const { run, calls } = machine({ id, useradd: make });
  await systemAccount(silent, run);
  expect(calls.some((call) => call.startsWith("useradd"))).toBe(false);
});

test("uses a user that another service created at the same moment", async () => {
  let asked = 0;
  const id = () => (++asked > 2 ? ok("998") : { exitCode: 1, output: "" });
  const { run } = machine({ id, useradd: () => ({ exitCode: 9, output: "already exists" }) });
  expect(await systemAccount(silent, run)).toMatchObject({ uid: 998 });
});

test("two services that create the user at the same moment get the same one", async () => {
  const folder = await makeFolder();
  // Behaves like `useradd`: a call that checked before the other call finished gives the name a new uid.
  const start = `
    const { systemAccount } = await import(${JSON.stringify(import.meta.resolve("./account.ts"))});
    const { existsSync, readFileSync, writeFileSync } = await import("node:fs");
    const { setTimeout: sleep } = await import("node:timers/promises");
    const user = ${JSON.stringify(join(folder, "user"))};
    const run = async (command) => {
      const isThere = existsSync(user);
      if (command === "id")
        return isThere ? { exitCode: 0, output: readFileSync(user, "utf8") } : { exitCode: 1, output: "" };
      if (isThere) return { exitCode: 9, output: "already exists" };
      await sleep(500);
      writeFileSync(user, String(process.pid));
      return { exitCode: 0, output: "" };
    };
    const lock = ${JSON.stringify(join(folder, "lock"))};
    const { uid } = await systemAccount({ info() {} }, run, lock);
    console.log(uid);
  `;
  const service = () =>
    promisify(execFile)(process.execPath, ["--input-type=module", "--eval", start]);
  const [first, second] = await Promise.all([service(), service()]);
  expect(first.stdout).toBe(second.stdout);
  expect(first.stdout.trim()).toBe(await readFile(join(folder, "user"), "utf8"));
});

test("says what to do on a machine without useradd and adduser", async () => {
  const { run } = machine({ id: () => ({ exitCode: 1, output: "" }) });
  await expect(systemAccount(silent, run)).rejects.toThrow(
    /create the system user “quarterdeck” \(useradd: spawn useradd ENOENT; adduser: .*ordinary user.*DATABASE_URL/,
  );
});

test("refuses a database user that is root under another name", async () => {
  const { run } = machine({ id: () => ok("0") });
  await expect(systemAccount(silent, run)).rejects.toThrow(
    "“quarterdeck” on this machine has uid 0",
  );
});
