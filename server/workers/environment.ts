// Builds the environment that workers inherit from the service, without its secrets.
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const inherited = new Set(["HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"]);

/** Folder of this project, which contains its packages. */
const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

const machinePath = "/usr/local/bin:/usr/bin:/bin";

/**
 * @param environment environment of the service
 * @param runtimeFolder folder of the service's Node, which is used only if PATH has no other
 * @param project folder of the service's code
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
 * Removes the folders that `npm start` puts first: the programs of the packages in this project and in every folder above. They
 * contain a `node` that sites would use instead of their own.
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
