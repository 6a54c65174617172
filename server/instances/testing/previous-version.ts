// The version of the code before the newest change of the schema, from the project's own history.
import { execFile } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { breaksWithPrevious } from "../../store/schema-version.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const journal = "server/store/migrations/meta/_journal.json";

const run = promisify(execFile);
const git = async (...args: string[]) => (await run("git", ["-C", root, ...args])).stdout.trim();

/**
 * The newest version that may share a database with this one although it knows fewer migrations; where the newest migration
 * ends that, the one that brought it. null = there is no such history, because the clone is shallow or no clone at all.
 */
export async function findPreviousVersion(): Promise<string | null> {
  try {
    const changed = await git("log", "-1", "--format=%H", "--", journal);
    return await git("rev-parse", "--verify", breaksWithPrevious ? changed : `${changed}^`);
  } catch {
    return null;
  }
}

/** @param into a folder, which is made. @returns the program that starts it */
export async function checkOut(commit: string, into: string): Promise<string> {
  await mkdir(into);
  const archive = `${into}.tar`;
  await git("archive", `--output=${archive}`, commit);
  await run("tar", ["-xf", archive, "-C", into]);
  await rm(archive);
  await symlink(join(root, "node_modules"), join(into, "node_modules"));
  // Without a dashboard, which nobody looks at; and the next run finds what Node made of its files, wherever they lie then.
  const program = join(into, "start.mjs");
  await writeFile(
    program,
    `import { enableCompileCache } from "node:module";
enableCompileCache({ directory: import.meta.dirname + "/node_modules/.cache/node", portable: true });
await import("./server/main.ts");
`,
  );
  return program;
}
