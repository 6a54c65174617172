// `quarterdeck start`, the package's equivalent of `npm start`: cleans the environment, then starts the service.
import { existsSync, readdirSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { handOver, takeEnvironment } from "../environment/handover.ts";
import { closeInheritedFiles } from "../environment/inherited-files.ts";

/**
 * The flags of `npm start` in package.json. A package's program cannot declare any, so this process restarts itself with them.
 */
const flags = ["--max-semi-space-size=8", "--external-memory-accounted-in-global-limit"];

/** Files that exist in a data folder as soon as a service has started in it. */
const ownNames = ["lock", "inventory.yaml", "instance.lock"];

/** @returns why the service must not use the folder as its data folder; null = it may */
function problemWithFolder(folder: string): string | null {
  if (!existsSync(folder) || ownNames.some((name) => existsSync(`${folder}/${name}`))) return null;
  return readdirSync(folder).length === 0
    ? null
    : `${folder} has other files. Run Quarterdeck in an empty folder, or set QUARTERDECK_DATA to the folder for its data.`;
}

closeInheritedFiles();
handOver({
  env: process.env,
  execPath: process.execPath,
  execArgv: [...flags, ...process.execArgv],
  // This file, not the program that imported it.
  argv: [process.execPath, fileURLToPath(import.meta.url)],
  ...(process.execve && { execve: process.execve.bind(process) }),
});
const environment = takeEnvironment(process);
const isDefaultFolder = !environment["QUARTERDECK_DATA"]?.trim() && process.getuid?.() !== 0;
const problem = isDefaultFolder ? problemWithFolder(resolve("data")) : null;
if (problem === null) {
  // In the package's own folder: the default one in /tmp might contain another user's code.
  enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/node", import.meta.url)));
  await import("../main.ts");
} else {
  process.stderr.write(`\n${problem}\n\n`);
  process.exitCode = 1;
}
