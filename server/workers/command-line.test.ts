import { execFileSync } from "node:child_process";
import { assert, array, property, string } from "fast-check";
import { expect, test } from "vitest";
import { toCommandLine } from "../../contract/workers/command.ts";

/** Returns the arguments that a program gets from a real shell. */
const readByShell = (line: string): string[] =>
  execFileSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);

test("a displayed command line results in the same arguments when it is pasted into a shell", () => {
  // No argument can contain NUL.
  const argument = string({ minLength: 1, unit: "grapheme" }).map((text) =>
    text.replaceAll("\0", "x"),
  );
  assert(
    property(array(argument, { minLength: 1, maxLength: 5 }), (args) => {
      expect(readByShell(toCommandLine(args))).toEqual(args);
    }),
    { examples: [[["it's", "a b", "$HOME", "`id`", '"', "\\", "~", "*", "é\n"]]] },
  );
});
