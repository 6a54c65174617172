import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { isLinux, kill } from "./machine.ts";
import { makeMemoryFolder, removeDeadFolders } from "./memory-folder.ts";
import { isAlive } from "./signals.ts";
import { soon } from "./soon.ts";

const script = `
  import { spawn } from "node:child_process";
  import { makeMemoryFolder } from ${JSON.stringify(import.meta.resolve("./memory-folder.ts"))};
  const cwd = await makeMemoryFolder("quarterdeck-dead-");
  const { pid } = spawn("sleep", ["1000"], { cwd, detached: true, stdio: "ignore" });
  process.stdout.write(JSON.stringify({ folder: cwd, pid }));
  setInterval(() => {}, 1000);
`;

test.skipIf(!isLinux)(
  "removes a folder and the processes in it once its creator was killed, and not before",
  async () => {
    const own = await makeMemoryFolder("quarterdeck-living-");
    onTestFinished(() => rm(own, { recursive: true }));
    const maker = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void maker.kill("SIGKILL"));
    const [said]: unknown[] = await once(maker.stdout, "data");
    const { folder, pid }: { folder: string; pid: number } = JSON.parse(String(said));
    await removeDeadFolders();
    expect(existsSync(folder)).toBe(true);
    expect(isAlive(pid)).toBe(true);

    await kill(maker);
    await removeDeadFolders();
    expect(existsSync(folder)).toBe(false);
    // init has to reap the orphaned process.
    await soon(() => expect(isAlive(pid)).toBe(false));
    expect(existsSync(own)).toBe(true);
  },
);
