// Builds the environment that workers inherit from the service, without its secrets.
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const inherited = new Set(["HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"]);

/** Folder of this project, which contains its packages. */
const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

const machinePath = "/usr/local/bin:/usr/bin:/bin";

/**
 * @param environment the service's own
 * @param runtimeFolder where the service's Node is; last in PATH, so that it serves where there is no other
 * @param project the folder that the service runs from
 */
export function workerEnvironment(
  environment: Record<string, string | undefined>,
  runtimeFolder: string,
  project = projectFolder,
): Record<string, string> {
  const path = withoutProject(environment["PATH"] ?? machinePath, project);
  const passed: Record<string, string> = { PATH: `${path || machinePath}:${runtimeFolder}` };
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined && (inherited.has(name) || name.startsWith("LC_")))
      passed[name] = value;
  return passed;
}

/**
 * `npm start` puts the programs of this project's packages first, its Node among them, and those of every folder above:
 * a site's `node` would be the service's own.
 * @see https://docs.npmjs.com/cli/commands/npm-run#description
 */
function withoutProject(path: string, project: string): string {
  const root = resolve(project);
  const added = new Set<string>();
  for (let folder = root; ; folder = dirname(folder)) {
    added.add(join(folder, "node_modules/.bin"));
    if (folder === dirname(folder)) break;
  }
  const isOwn = (folder: string) =>
    added.has(folder) || folder.startsWith(root + sep) || folder.endsWith("/node-gyp-bin");
  return path
    .split(":")
    .filter((folder) => folder === "" || !isOwn(resolve(folder)))
    .join(":");
}
