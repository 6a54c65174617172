import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { bringingGiven, givenFile } from "./given-file.ts";
import type { Command } from "./host.ts";
import { createRunner } from "./run.ts";
import { isLinux, isRoot } from "../testing/machine.ts";
import { soon } from "../testing/soon.ts";
import { toError } from "../to-error.ts";

const mount = async (program: string, argv: string[]) =>
  (await promisify(execFile)(program, argv)).stderr !== "";

async function makeRunner() {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-given-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return {
    folder,
    run: createRunner({ PATH: process.env["PATH"] ?? "", HOME: "/", TMPDIR: folder }),
  };
}

/** The service's own account gets a file; other accounts and machines receive the text by standard input. */
const ways = [
  { way: "as our own", bring: <Running extends Command>(command: Running) => command },
  { way: "brought", bring: bringingGiven },
];

describe.each(ways)("$way", ({ bring }) => {
  test("a program reads the text from a file that only its account can read and that has no name", async () => {
    const { run, folder } = await makeRunner();
    const script = `cat ${givenFile(0)} ${givenFile(0)}; stat -L -c '%a %h %F' ${givenFile(0)}; ls "$0"; cat /proc/$$/cmdline /proc/$$/environ >&2`;
    const { stderr, ...end } = await run(
      bring({ given: ["päss\n"], argv: ["sh", "-c", script, folder] }),
    );
    expect(end).toMatchObject({ exitCode: 0, stdout: "päss\npäss\n600 0 regular file\n" });
    expect(stderr).toContain(folder);
    expect(stderr).not.toContain("päss");
    expect(await readdir(folder)).toEqual([]);
  });

  test.each([0, 1, 4096, 300_000])(
    "the input after a text of %d bytes belongs to the program",
    async (size) => {
      const { run } = await makeRunner();
      const input = Readable.from(["in", "put", "!".repeat(200_000)]);
      const command = bring({
        given: ["x".repeat(size)],
        argv: ["sh", "-c", `wc -c < ${givenFile(0)}; wc -c; exit 5`],
        input,
      });
      const { exitCode, stdout } = await run(command);
      expect([exitCode, ...stdout.trim().split("\n").map(Number)]).toEqual([5, size, 200_005]);
    },
  );

  test("a program reads several texts, and its input after them", async () => {
    const { run, folder } = await makeRunner();
    const given = ["one\n", "", "three\n", "four\n"];
    const files = given.map((_, index) => givenFile(index)).join(" ");
    const argv = ["sh", "-c", `cat ${files} -`] as const;
    const end = await run(bring({ given, argv, input: Readable.from(["input"]) }));
    expect(end).toMatchObject({ stdout: "one\nthree\nfour\ninput" });
    expect(await readdir(folder)).toEqual([]);
  });

  test("a program never mistakes an input that broke off for one that ended", async () => {
    const { run } = await makeRunner();
    async function* broken() {
      yield Buffer.from("begin");
      throw new Error("the disk is gone");
    }
    const command = bring({ given: ["x"], argv: ["cat"], input: Readable.from(broken()) });
    await expect(run(command)).rejects.toThrow("the disk is gone");
  });

  test("a program that has read enough exits, though its input continues", async () => {
    const { run } = await makeRunner();
    const input = new PassThrough();
    input.write("enough and more");
    const command = bring({ given: ["x"], argv: ["head", "-c", "6"], input });
    expect(await run(command)).toMatchObject({ exitCode: 0, stdout: "enough" });
    // Only the next write detects that the pipe is closed.
    input.write("more");
    await soon(() => expect(input.destroyed).toBe(true));
  });

  test.skipIf(!isRoot || !isLinux)(
    "a full folder for temporary files is named (root on Linux only: mounts a disk)",
    async ({ skip }) => {
      const { run, folder } = await makeRunner();
      const options = ["-t", "tmpfs", "-o", "size=4k", "tmpfs", folder];
      if (await mount("mount", options).catch(() => true))
        return skip("mounting is not allowed here");
      onTestFinished(async () => void (await mount("umount", [folder])));
      await writeFile(join(folder, "full"), "x".repeat(4096));
      const end = await run(bring({ given: ["secret"], argv: ["cat", givenFile(0)] })).then(
        ({ exitCode, stderr }) => ({ exitCode, said: stderr }),
        (error: unknown) => ({ exitCode: 1, said: toError(error).message }),
      );
      expect(end).toEqual({ exitCode: 1, said: expect.stringContaining(folder) });
      expect(end.said).toMatch(/No space left/);
      expect(end.said).not.toMatch(/could not be started|secret/);
      expect(await readdir(folder)).toEqual(["full"]);
    },
  );

  test.skipIf(!existsSync("/bin/mksh"))("a program gets the texts where sh is mksh", async () => {
    const { folder } = await makeRunner();
    await symlink("/bin/mksh", join(folder, "sh"));
    const PATH = `${folder}:${process.env["PATH"]}`;
    const run = createRunner({ PATH, HOME: "/", TMPDIR: folder });
    const command = bring({
      given: ["one\n", "two\n"],
      argv: ["cat", givenFile(0), givenFile(1), "-"],
      input: Readable.from(["input"]),
    });
    expect(await run(command)).toMatchObject({ exitCode: 0, stdout: "one\ntwo\ninput" });
  });

  test("nothing is left after an abort", async () => {
    const { run, folder } = await makeRunner();
    const controller = new AbortController();
    const running = run({
      ...bring({ given: ["x"], argv: ["sh", "-c", "echo up >&2; sleep 60"] }),
      onErrorLine: () => controller.abort(new Error("enough")),
      signal: controller.signal,
    });
    await expect(running).rejects.toThrow("enough");
    expect(await readdir(folder)).toEqual([]);
  });
});
