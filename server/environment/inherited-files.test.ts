import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

const program = `
  import { spawnSync } from "node:child_process";
  import { readFile } from "node:fs/promises";
  import { closeInheritedFiles } from ${JSON.stringify(new URL("inherited-files.ts", import.meta.url).href)};
  closeInheritedFiles();
  closeInheritedFiles();
  await readFile("/proc/self/stat");
  // The shell lists what it was given, and nothing that it opens for the list.
  console.log(spawnSync("sh", ["-c", "for file in /proc/$$/fd/*; do echo \${file##*/}; done"]).stdout.toString());
`;

test.skipIf(process.platform !== "linux")(
  "a process without a terminal closes inherited files, pipes and sockets, and continues",
  async () => {
    const { stdout } = await run("bash", [
      "-c",
      `exec 100>&1 101</dev/null 102< <(:) 103> >(cat) 104<>"/dev/udp/127.0.0.1/9"; exec setsid --wait nohup "$0" --input-type=module -e "$1" < /dev/null`,
      process.execPath,
      program,
    ]);
    const left = stdout.split("\n").filter((line) => line !== "");
    expect(left).toEqual(expect.arrayContaining(["0", "1", "2"]));
    // Node.js itself does not pass the lowest file descriptors on to its children.
    expect(left.filter((file) => Number(file) >= 100)).toEqual([]);
  },
);
