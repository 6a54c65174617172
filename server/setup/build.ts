// Builds the dashboard when its sources changed since the last build.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { glob, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sources = [
  "src/**/*",
  "contract/**/*",
  "docs/*.md",
  "public/**/*",
  "server/setup/vite/*.ts",
  "*.config.ts",
  "index.html",
  "package-lock.json",
];

export async function buildDashboard(): Promise<void> {
  const stamp = join(root, "dist/.sources");
  const wanted = await hashSources();
  const built = await readFile(stamp, "utf8").catch(() => null);
  if (built === wanted) return;
  console.log("Building the dashboard…");
  // A process of its own: the service that starts afterwards is not to carry the builder's memory along.
  const vite = join(root, "node_modules/vite/bin/vite.js");
  execFileSync(process.execPath, [vite, "build", "--logLevel=warn"], {
    cwd: root,
    stdio: "inherit",
  });
  await writeFile(stamp, wanted);
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
