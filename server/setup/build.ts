// Builds the dashboard when its sources changed since the last build.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { glob, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Name of the file with the hash of the sources that a build was made from. */
const stampName = ".sources";
const sources = [
  "src/**/*",
  "contract/**/*",
  "docs/**/*.md",
  "public/**/*",
  "server/setup/vite/*.ts",
  "*.config.ts",
  "index.html",
  "package-lock.json",
];

/** Builds into a temporary folder and renames it, so that other services never see a partial build. */
export async function buildDashboard(): Promise<void> {
  const place = join(root, "dist");
  const wanted = await hashSources();
  const builtOf = () => readFile(join(place, stampName), "utf8").catch(() => null);
  if ((await builtOf()) === wanted) return;
  console.log("Building the dashboard…");
  // A separate process, so that the service that starts afterwards does not keep the builder's memory.
  const vite = join(root, "node_modules/vite/bin/vite.js");
  const name = `.vite/build-${process.pid}`;
  const fresh = join(root, name);
  execFileSync(process.execPath, [vite, "build", "--logLevel=warn", `--outDir=${name}`], {
    cwd: root,
    stdio: "inherit",
    // The NODE_ENV of a test would build React's development version.
    env: { ...process.env, NODE_ENV: "production" },
  });
  await writeFile(join(fresh, stampName), wanted);
  const old = `${fresh}-old`;
  // The first build replaces nothing.
  await rename(place, old).catch(() => undefined);
  try {
    await rename(fresh, place);
  } catch (error) {
    // Another process was faster with the same build.
    await rm(fresh, { recursive: true });
    if ((await builtOf()) !== wanted) throw error;
  }
  await rm(old, { recursive: true, force: true });
}

async function hashSources(): Promise<string> {
  const hash = createHash("sha256");
  const paths: string[] = [];
  for await (const entry of glob(sources, { cwd: root, withFileTypes: true }))
    if (entry.isFile()) paths.push(join(entry.parentPath, entry.name));
  for (const path of paths.sort())
    hash.update(path.slice(root.length)).update(await readFile(path));
  return hash.digest("hex");
}
