import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLocalHost } from "../../hosts/local.ts";
import { openProgram } from "./foreign-programs.ts";
import { startSupervisord, type TestSupervisord } from "./testing/supervisord.ts";

let supervisord: TestSupervisord;

beforeAll(async () => {
  supervisord = await startSupervisord();
});
afterAll(() => supervisord?.close());

const section = "[program:shop]\ncommand=true\n";

test.each([
  [section, true],
  [`; ours\n  ${section}`, true],
  ["[program:shop-2]\ncommand=true\n", false],
  // A program that was commented out.
  [section.replaceAll(/^/gm, ";"), false],
  [`# was [program:shop] once\n[program:blog]\ncommand=true\n`, false],
])("detects whether a program is in its file: %j, %j", async (text, stands) => {
  const { PATH = "" } = process.env;
  const machine = {
    run: createLocalHost({ PATH, HOME: "/" }).run,
    openSocket: async (path: string) => path,
    whyClosed: async () => null,
    environment: {},
  };
  const { standsIn } = await openProgram({ machine, config: supervisord.config }, "shop");
  const file = join(supervisord.programs, "shop.conf");
  await writeFile(file, text);
  expect(await standsIn(file)).toBe(stands);
  expect(await standsIn(`${file}.gone`)).toBe(false);
});
