import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { makeFolder } from "../testing/machine.ts";
import { sshArguments, type SshTarget } from "./target.ts";

const run = promisify(execFile);

const target: SshTarget = {
  host: "server",
  port: 22,
  user: "deploy",
  keyFile: null,
  hostKey: null,
  configFile: null,
  jump: null,
};

/** The ciphers that `ssh` itself would offer, in its order. */
async function offeredCiphers(more: Partial<SshTarget>): Promise<string[]> {
  const args = sshArguments({ ...target, ...more }, await makeFolder());
  const { stdout } = await run("ssh", ["-G", ...args, "--", target.host]);
  return /^ciphers (.*)$/m.exec(stdout)?.[1]?.split(",") ?? [];
}

test("offers the ciphers that processors accelerate first, and all others after them", async () => {
  const offered = await offeredCiphers({});
  expect(offered.slice(0, 2)).toEqual(["aes128-gcm@openssh.com", "aes256-gcm@openssh.com"]);
  expect(offered).toContain("chacha20-poly1305@openssh.com");
});

test("leaves the choice of a cipher to an ssh_config that the inventory names", async () => {
  const configFile = join(await makeFolder(), "config");
  await writeFile(configFile, "Host *\n  Ciphers aes256-ctr\n");
  expect(await offeredCiphers({ configFile })).toEqual(["aes256-ctr"]);
});
