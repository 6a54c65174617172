// Checks quoting with Debian's supervisord: a child process writes its arguments and environment to a file.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandText, withEnvironment } from "./command-text.ts";
import { startSupervisord, type TestSupervisord } from "./testing/supervisord.ts";
import { isLongForm } from "../../testing/long-form.ts";
import { soon } from "../../testing/soon.ts";

let supervisord: TestSupervisord;
beforeAll(async () => {
  supervisord = await startSupervisord();
});
afterAll(() => supervisord?.close());

type Given = { args: readonly string[]; environment: Record<string, string> };

let count = 0;

/** Writes each argument and each variable that begins with `T_`, each followed by NUL. */
const tell =
  'f=$1; shift; for a; do printf "%s\\0" "$a"; done >"$f"; printf "\\1\\0" >>"$f"; env -0 >>"$f"; mv -- "$f" "$f.done"';

/** Runs all commands at once. @returns the arguments and variables that the processes got */
async function run(all: readonly Given[]): Promise<Given[]> {
  const { folder, programs, call } = supervisord;
  const started = all.map(({ args, environment: variables }) => {
    count += 1;
    const name = `tell-${count}`;
    const seen = join(folder, name);
    const { argv, environment } = withEnvironment(
      ["sh", "-c", tell, "sh", seen, ...args],
      variables,
    );
    writeFileSync(
      join(programs, `${name}.conf`),
      `[program:${name}]\ncommand=${commandText(argv)}\nenvironment=${environment}\nautorestart=false\nstartsecs=0\n`,
    );
    return { name, seen: `${seen}.done` };
  });
  await call("reloadConfig");
  for (const { name } of started) await call("addProcessGroup", name);
  await soon(async () => {
    await call("getState"); // supervisord checks its processes whenever it gets a request
    expect(started.filter(({ seen }) => !existsSync(seen))).toEqual([]);
  });
  for (const { name } of started) {
    // A process that has written everything may take a moment to exit.
    await soon(() => call("removeProcessGroup", name));
    rmSync(join(programs, `${name}.conf`));
  }
  return started.map(({ seen }) => {
    const parts = readFileSync(seen, "utf8").split("\0").slice(0, -1);
    // Unique, because each variable has a name.
    const end = parts.lastIndexOf("\u0001");
    const variables = parts.slice(end + 1);
    return {
      args: parts.slice(0, end),
      environment: Object.fromEntries(
        variables
          .filter((one) => one.startsWith("T_"))
          .map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]),
      ),
    };
  });
}

const special = [
  "%",
  "%%",
  "%(here)s",
  "%(ENV_PATH)s",
  "%s",
  ";",
  " ;",
  " ; x",
  "#",
  " #",
  "'",
  '"',
  "\\",
  "\\n",
  "\\012",
  "\n",
  "\r",
  "\r\n",
  "\t",
  " ",
  "  ",
  "",
  "$HOME",
  "`id`",
  "$(id)",
  "*",
  "~",
  "[x]",
  "=",
  ",",
  "é",
  "漢字",
  "😀",
  "\u00a0;",
  "\u2028",
  "\u0001",
  "\u007f",
  "-n",
  "--",
  "\n\n",
  " \n",
  "\u3000#",
  "!",
  "&",
  "|",
  "<>",
  "(",
  ")",
  "{}",
];

const text = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...special) },
      { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
    ),
    { maxLength: 6 },
  )
  // No process can receive a NUL, and a lone surrogate is not a character.
  .map((parts) => parts.join("").replaceAll("\0", "").toWellFormed());

const given = fc.record({
  args: fc.array(text, { maxLength: 6 }),
  environment: fc.dictionary(fc.stringMatching(/^T_[A-Z0-9_]{1,8}$/), text, {
    maxKeys: 4,
    noNullPrototype: true,
  }),
});

test("passes each special text through supervisord byte for byte", async () => {
  const all = special.flatMap((one) => [
    { args: [one, `a${one}b`, `${one}${one}`], environment: { T_A: one, T_B: `a${one}b` } },
  ]);
  expect(await run(all)).toEqual(all);
}, 120_000);

test("passes arguments and variables through supervisord byte for byte", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(given, { minLength: 8, maxLength: 8 }), async (all) => {
      expect(await run(all)).toEqual(all);
    }),
    // Shrinking a failure would take until the timeout of the test.
    { numRuns: isLongForm ? 12 : 4, endOnFailure: true },
  );
}, 300_000);
