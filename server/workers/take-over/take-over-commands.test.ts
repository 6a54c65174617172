import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { takeOverCommands } from "./take-over-commands.ts";

test("removes each section from a file that others share, and keeps a backup of the file before each removal", async () => {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-take-over-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "shop's queues.conf");
  const kept = "; of nobody else\n[program:mail]\ncommand=mail\n";
  const text = `[program:shop.*]\ncommand=one\n environment=A=1\n${kept}[program:shop]\ncommand=two\n`;
  await writeFile(file, text);
  const take = (program: string) => {
    const [command = ""] = takeOverCommands({ program, file, config: null, is_alone: false });
    execFileSync("sh", ["-c", command.replace(/^sudo /, "")]);
  };
  take("shop.*");
  const between = text.slice(text.indexOf("[program:mail]"));
  expect(await readFile(file, "utf8")).toBe(between);
  take("shop");
  expect(await readFile(file, "utf8")).toBe(between.slice(0, between.indexOf("[program:shop]")));
  const others = (await readdir(folder)).filter((name) => !name.endsWith(".conf")).toSorted();
  expect(await Promise.all(others.map((name) => readFile(join(folder, name), "utf8")))).toEqual([
    between,
    text,
  ]);
});
