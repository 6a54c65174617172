import { execFileSync } from "node:child_process";
import { assert, array, property, string } from "fast-check";
import { expect, test } from "vitest";
import { toCommandLine } from "../../contract/workers/command.ts";

/** What a real shell makes of a line: the arguments that a program would get. */
const readByShell = (line: string): string[] =>
  execFileSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);

test("a command line that is shown means the same arguments when it is pasted into a shell", () => {
  // A NUL cannot be part of any argument.
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
