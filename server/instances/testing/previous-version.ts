// Finds and checks out the version of the code before the newest migration, from the project's git history.
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
 * Returns the newest commit before the newest migration, whose version can share a database with this one; if the newest
 * migration is incompatible with it, the commit of that migration. null = no history: a shallow clone, or no git repository.
 */
export async function findPreviousVersion(): Promise<string | null> {
  try {
    const changed = await git("log", "-1", "--format=%H", "--", journal);
    return await git("rev-parse", "--verify", breaksWithPrevious ? changed : `${changed}^`);
  } catch {
    return null;
  }
}

/** @param into a folder to create. @returns the path of the program that starts the version */
export async function checkOut(commit: string, into: string): Promise<string> {
  await mkdir(into);
  const archive = `${into}.tar`;
  await git("archive", `--output=${archive}`, commit);
  await run("tar", ["-xf", archive, "-C", into]);
  await rm(archive);
  await symlink(join(root, "node_modules"), join(into, "node_modules"));
  // Starts without the dashboard, which no test uses. The compile cache is portable, so that the next run uses it in another folder.
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
