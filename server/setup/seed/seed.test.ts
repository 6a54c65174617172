import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseInventory } from "../../inventory/file.ts";
import { prepareFiles, writeState } from "./write-files.ts";
import { startWithSeed } from "./seed.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-seed-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs `npm start` up to the service itself. @returns the output, and whether the service started */
async function start(args: string[], environment: Record<string, string>) {
  let output = "";
  let isStarted = false;
  const write = (text: string | Uint8Array) => {
    output += String(text);
    return true;
  };
  const exit = (): never => {
    throw new Error("exit");
  };
  const program = {
    ...process,
    argv: ["node", "start.ts", ...args],
    // The cast holds because the code under test uses only `write` of a stream.
    stdout: { write } as unknown as typeof process.stdout,
    // As above: only `write` is used.
    stderr: { write } as unknown as typeof process.stderr,
    exit,
  };
  await startWithSeed(program, environment, async () => (isStarted = true)).catch(() => undefined);
  return { output, isStarted };
}

test("writes an inventory of 13 servers and 80 sites, once", async () => {
  const data = join(folder, "new");
  const state = await prepareFiles(data);
  const file = join(data, "inventory.yaml");
  const inventory = parseInventory(await readFile(file, "utf8"), file);
  expect(inventory.servers).toHaveLength(13);
  expect(inventory.sites).toHaveLength(80);
  expect(inventory.servers.every(({ connection }) => connection === "local")).toBe(true);

  await writeState(data, { ...state, isDone: true });
  await writeFile(file, "# changed by hand\n");
  expect(await prepareFiles(data)).toMatchObject({ isDone: true });
  expect(await readFile(file, "utf8")).toBe("# changed by hand\n");
});

test("refuses a folder with other data, and starts nothing", async () => {
  const data = join(folder, "taken");
  await prepareFiles(join(folder, "other"));
  await writeFile(join(folder, "taken.yaml"), "");
  const { output, isStarted } = await start(["--seed", "large"], {
    QUARTERDECK_DATA: folder,
    PORT: "4321",
  });
  expect(output).toContain(`Couldn't seed ${folder}: the folder already has other data.`);
  expect(isStarted).toBe(false);
  await expect(readFile(join(data, "seed.json"))).rejects.toThrow("ENOENT");
});

test.each([
  [["--seed", "small"], {}, "--seed must be “large”, not “small”."],
  [["--seed"], {}, "--seed must be “large”"],
  [["--seed", "large"], { DATABASE_URL: "postgres://localhost/x" }, "Unset DATABASE_URL."],
  [["--seed", "large"], { PORT: "0" }, "set PORT to the port of the service"],
] as const)("refuses %j with %j", async (args, environment, message) => {
  const { output, isStarted } = await start([...args], {
    QUARTERDECK_DATA: join(folder, "refused"),
    ...environment,
  });
  expect(output).toContain(message);
  expect(isStarted).toBe(false);
});

test("without a seed starts only the service", async () => {
  expect(await start([], {})).toEqual({ output: "", isStarted: true });
});
