import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRoot } from "../testing/machine.ts";
import { readFacts } from "./facts.ts";
import { openRemoteHost } from "./remote-host.ts";
import { connectTo } from "./testing/connect.ts";
import { startSshd } from "./testing/sshd.ts";

test.runIf(isRoot)("reading versions runs nothing of the account's own settings", async () => {
  const sshd = await startSshd();
  const home = join(sshd.folder, sshd.user);
  await writeFile(join(home, ".sqliterc"), `.shell touch ${home}/ran\n`);
  const host = await openRemoteHost(await connectTo(sshd));
  const { tools } = await readFacts(host, Date.now());
  expect(tools.find(({ name }) => name === "sqlite3")?.version).toMatch(/^3\./);
  expect(existsSync(join(home, "ran"))).toBe(false);
});
