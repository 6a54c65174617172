// Installs the packages when the lock file says something else than what is there.
// It runs before anything is installed, on whatever Node the machine has: plain JavaScript, no imports but Node's.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const stamp = at("node_modules/.installed");
const wanted = createHash("sha256")
  .update(readFileSync(at("package-lock.json")))
  .update(`${process.platform} ${process.arch}`)
  .digest("hex");

const isInstalled = () =>
  existsSync(stamp) &&
  readFileSync(stamp, "utf8") === wanted &&
  existsSync(at("node_modules/node"));

if (!isInstalled()) {
  console.log("Installing packages…");
  // Not `npm ci`: where a registry lacks the builds for other platforms, the lock file lacks them too,
  // and `ci` refuses such a file. This installs the same locked versions and writes nothing back.
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  // Inside an npm script its own path is known, which spares looking for the right npm.
  const npm = process.env.npm_execpath;
  const { status } = spawnSync(npm ? process.execPath : "npm", npm ? [npm, ...args] : args, {
    cwd: at("."),
    stdio: "inherit",
    // The browser tests take the machine's browser.
    env: { ...process.env, PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: "1" },
  });
  if (status !== 0) {
    console.error("The packages could not be installed; npm says why above.");
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}
