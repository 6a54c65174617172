import { expect, test } from "vitest";
import type { Command } from "./command.ts";
import { readCommandLine } from "./command-line.ts";

const nothing = async () => undefined;
const commands: Command[] = [
  { name: "look", about: "Looks.", failure: "there was nothing to see", run: nothing },
  {
    name: "check",
    parameter: "<storage>",
    options: ["--json"],
    about: "Checks.",
    details: "Much more.",
    failure: "something is wrong",
    run: nothing,
  },
];
const read = (...words: string[]) => readCommandLine(words, commands);

test.each([
  [["look"], "look", "", []],
  [["check", "/copies"], "check", "/copies", []],
  [["check", "--json", "/copies"], "check", "/copies", ["--json"]],
  // The standard input.
  [["check", "-"], "check", "-", []],
])("parses %j", (words, name, argument, options) => {
  expect(read(...words)).toMatchObject({
    kind: "run",
    command: { name },
    argument,
    options: new Set(options),
  });
});

test.each([
  [["check", "/copies", "--quick"], "check has no option --quick; "],
  [["check", "-q", "/copies"], "check has no option -q; "],
  [["look", "--json"], "look has no option --json; "],
  [["look", "there"], "look takes no argument; "],
  [["check"], "check takes one argument, <storage>; "],
  [["check", "a", "b"], "check takes one argument, <storage>; "],
])("refuses %j with one sentence", (words, sentence) => {
  expect(read(...words)).toEqual({
    kind: "refused",
    text: `${sentence}see npm run quarterdeck -- ${words[0]} --help.\n`,
  });
});

test.each([[["check", "--help"]], [["check", "/copies", "-h"]], [["check", "help"]]])(
  "prints the usage and the exit codes for %j",
  (words) => {
    expect(read(...words)).toEqual({
      kind: "help",
      text: `Usage: npm run quarterdeck -- check [--json] <storage>

Checks.
Much more.

Exit codes:
  0    It did what it says.
  1    Failed: something is wrong.
  2    The command line is wrong; nothing was done.
  130  Interrupted.
`,
    });
  },
);

test("lists every command, also for an unknown one", () => {
  const help = read("--help");
  expect(help).toEqual({
    kind: "help",
    text: expect.stringMatching(/^Usage: [^]*^ {2}look .+^ {2}check <storage> /ms),
  });
  expect(read("no-such-command")).toEqual({ ...help, kind: "refused" });
  expect(read()).toEqual({ ...help, kind: "refused" });
  expect(read("--version")).toEqual({ kind: "version" });
});
