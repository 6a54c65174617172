import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { array, assert, asyncProperty, constantFrom, uniqueArray } from "fast-check";
import { expect, test } from "vitest";
import { excludePatterns, excludePresets } from "../../../../contract/backups/exclude-patterns.ts";
import { isLongForm } from "../../../testing/long-form.ts";
import { createFilter, findArguments } from "./excludes.ts";
import { makeFolder } from "./testing/fixtures.ts";

const environment = { ...process.env, LC_ALL: "C" };
const isPattern = (line: string) => excludePatterns.safeParse([line]).success;

/** Creates the files. @returns every entry, including folders, and which of them are folders */
async function plant(root: string, files: readonly string[]) {
  for (const file of files) {
    await mkdir(join(root, dirname(file)), { recursive: true }).catch(() => undefined);
    // Fails if a folder of that name exists, or a file in place of a parent folder.
    await writeFile(join(root, file), "").catch(() => undefined);
  }
  const listed = execFileSync("find", [root, "-mindepth", "1", "-printf", "%y%P\\0"], {
    env: environment,
    encoding: "latin1",
  });
  return listed
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => ({ name: line.slice(1), isFolder: line.startsWith("d") }));
}

type Entries = Awaited<ReturnType<typeof plant>>;

async function makeGit(root: string) {
  const git = await makeFolder();
  execFileSync("git", ["init", "--quiet", "--bare", git]);
  const options = [`--git-dir=${git}`, `--work-tree=${root}`, "-c", "core.bare=false"];
  return async (patterns: readonly string[], entries: Entries): Promise<Set<string>> => {
    await writeFile(join(git, "info/exclude"), `${patterns.join("\n")}\n`);
    const names = entries.map(({ name }) => `${name}\0`).join("");
    try {
      const out = execFileSync("git", [...options, "check-ignore", "--no-index", "--stdin", "-z"], {
        cwd: root,
        input: Buffer.from(names, "latin1"),
        encoding: "latin1",
        env: environment,
      });
      return new Set(out.split("\0").filter((name) => name !== ""));
    } catch (error) {
      // Exit code 1 = git ignores none of them.
      if (error instanceof Error && "status" in error && error.status === 1) return new Set();
      throw error;
    }
  };
}

function ignoredByFilter(patterns: readonly string[], entries: Entries): Set<string> {
  const isLeft = createFilter(patterns);
  const folders = new Set(entries.flatMap(({ name, isFolder }) => (isFolder ? [name] : [])));
  const left = entries.filter(({ name }) =>
    name
      .split("/")
      .map((_, index, parts) => parts.slice(0, index + 1).join("/"))
      .some((above) => isLeft(above, folders.has(above))),
  );
  return new Set(left.map(({ name }) => name));
}

const find = (argv: ["find", ...string[]]): string[] =>
  execFileSync(argv[0], argv.slice(1), { env: environment, encoding: "latin1" })
    .split("\0")
    .filter((name) => name !== "" && name !== "./")
    .map((name) => name.slice(2));

const names = constantFrom(
  "a",
  "b",
  "ab",
  "aab",
  "é",
  ".a",
  "a b",
  "[a]",
  "a-b",
  "!a",
  "^",
  "a.log",
);
const paths = array(names, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
const pieces = constantFrom(
  "a",
  "b",
  "é",
  ".",
  " ",
  "-",
  "*",
  "?",
  "[ab]",
  "[!a]",
  "[^é]",
  "[a-c]",
  "[]a]",
  "[[:alpha:]]",
  "[!-]",
  "[]^!-]",
  "[^]]",
  "\\[",
  "\\!",
  "\\*",
  "!",
  "^",
  "log",
  "[",
  "]",
  "[^]",
);
const segments = array(pieces, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));
const patterns = array(
  constantFrom("**", "/", "!", "").chain((start) =>
    array(
      constantFrom("x", "**").chain((kind) => (kind === "**" ? constantFrom("**") : segments)),
      {
        minLength: 1,
        maxLength: 3,
      },
    ).chain((parts) => constantFrom("", "/").map((end) => `${start}${parts.join("/")}${end}`)),
  ),
  { minLength: 1, maxLength: 6 },
).map((lines) => lines.filter(isPattern));

test("excludes what git ignores, here and with find on a remote server", async () => {
  const root = await makeFolder();
  const files = [
    "a/a/a",
    "a/a/b",
    "a/b/a.log",
    "a/é/ab",
    "b/.a/a",
    "b/a-b/^",
    "é/a/!a",
    "ab/ab/ab/ab",
    "a b/a",
    "[a]/a",
    "!a/b",
    "^/a",
    ".a/b",
    "aab",
    "a.log",
    "b/a.log/a",
    "b/[a]",
    "é/é",
    "a-b/b/a",
  ];
  const git = await makeGit(root);
  await assert(
    asyncProperty(uniqueArray(paths, { maxLength: 8 }), patterns, async (more, lines) => {
      const entries = await plant(root, [...files, ...more]);
      const ignored = await git(lines, entries);
      const told = () => JSON.stringify(lines);
      expect([...ignoredByFilter(lines, entries)].sort(), told()).toEqual([...ignored].sort());
      const excludes = { patterns: lines, caches: false };
      const kept = entries.filter(({ name }) => !ignored.has(name)).map(({ name }) => name);
      expect(find(findArguments(root, excludes, [], "kept")).sort(), told()).toEqual(kept.sort());
      const left = find(findArguments(root, excludes, [], "excluded"));
      const topmost = [...ignored].filter((name) => !ignored.has(dirname(name)));
      expect(left.sort(), told()).toEqual(topmost.sort());
    }),
    { numRuns: isLongForm ? 300 : 20 },
  );
}, 300_000);

test("the presets are patterns, which git reads in the same way", async () => {
  const root = await makeFolder();
  const entries = await plant(root, [
    "vendor/a.php",
    "app/vendor/b.php",
    "node_modules/x/y.js",
    "app/node_modules/z.js",
    "bootstrap/cache/config.php",
    "bootstrap/cache/keep",
    "storage/logs/laravel.log",
    "storage/framework/views/1.php",
    "storage/framework/sessions/s1",
    "storage/app/photo.jpg",
    "storage/framework/cache/data/aa/bb",
    ".next/cache/x",
    ".next/server/y",
    "coverage/index.html",
  ]);
  const git = await makeGit(root);
  for (const lines of Object.values(excludePresets)) {
    expect(excludePatterns.safeParse(lines).success).toBe(true);
    const ignored = await git(lines, entries);
    expect(ignored.size).toBeGreaterThan(5);
    expect(ignoredByFilter(lines, entries)).toEqual(ignored);
  }
});

test.each([
  ["a**b", /“\*\*” must be a whole part/],
  ["[ab", /bracket isn't closed/],
  ["a\\", /backslash/],
  ["a//b", /part of its path is empty/],
  ["../a", /are not allowed/],
  ["[é]", /must be ASCII/],
  ["[[:word:]]", /is no set of characters/],
  ["a\nb", /control characters/],
])("refuses %j", (line, reason) => {
  const { error } = excludePatterns.safeParse([line]);
  expect(error?.issues[0]?.message).toMatch(reason);
});

test.each(["", "# a comment", "\\#a", "a\\ ", "*.log", "/a/**/b/", "!a", "**/a"])(
  "accepts %j",
  (line) => {
    expect(isPattern(line)).toBe(true);
  },
);
