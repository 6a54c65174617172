// `npm run pack`: writes quarterdeck-<version>.tgz for `npx quarterdeck`: JavaScript without types, because Node refuses
// TypeScript below node_modules, the built dashboard, and a package.json with the dependencies at run time.
import { execFileSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildDashboard } from "./build.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Entry point of the package's commands, from which all other modules are found. */
const bin = "server/commands/bin.cjs";
/** Files that the service reads and that no module names. Only `npm run migrations` needs the snapshots beside the journal. */
const files = [
  "dist/**/*",
  "server/store/migrations/*.sql",
  "server/store/migrations/meta/_journal.json",
  "docs/quarterdeck.service",
  "docs/alerts.yaml",
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
];

type Manifest = Record<"version" | "description" | "license", string> & {
  dependencies: Record<string, string>;
};

/**
 * @param target absolute path of the folder for the tarball
 * @returns path of the tarball
 */
export async function packQuarterdeck(target: string): Promise<string> {
  await buildDashboard();
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-pack-"));
  try {
    const imported = await writeModules(folder);
    for (const path of globSync(files, { cwd: root, withFileTypes: true }))
      if (path.isFile())
        await copyInto(folder, join(path.parentPath, path.name).slice(root.length));
    const manifest: Manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    await writeFile(join(folder, "package.json"), manifestOf(manifest, imported));
    // Uses the npm that runs this script, if any, because npm may be missing from PATH.
    const npm = process.env["npm_execpath"];
    const args = ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", target];
    await mkdir(target, { recursive: true });
    execFileSync(npm ? process.execPath : "npm", npm ? [npm, ...args] : args, {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
    return join(target, `quarterdeck-${manifest.version}.tgz`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Writes the modules that the entry point reaches: those that are imported, and those that are named to be run as a process or
 * thread.
 * @returns the packages that they import
 */
async function writeModules(folder: string): Promise<Set<string>> {
  const waiting = [bin];
  const found = new Set(waiting);
  const packages = new Set<string>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const source = await readFile(join(root, path), "utf8");
    const { code, modules, imported } = toJavaScript(path, source);
    for (const module of modules)
      if (!found.has(module)) {
        found.add(module);
        waiting.push(module);
      }
    for (const name of imported) packages.add(name);
    const target = join(folder, path.replace(/\.ts$/, ".js"));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, code);
  }
  return packages;
}

/** Converts a module. All code stays at its line and column, so that stacks match the sources. */
function toJavaScript(path: string, source: string) {
  const modules = new Set<string>();
  const stripped = path.endsWith(".ts") ? withoutTypes(source) : source;
  const code = withoutComments(stripped).replaceAll(
    /"([\w./-]+)\.(ts|cjs)"/g,
    (text, name, extension) => {
      const module = posix.join(posix.dirname(path), `${name}.${extension}`);
      if (existsSync(join(root, module))) modules.add(module);
      else if (name.startsWith("."))
        throw new Error(`${path} names ${module}, which is not there.`);
      else return text;
      return extension === "ts" ? `"${name}.js"` : text;
    },
  );
  const specifiers = code.matchAll(
    /(?:^|[\s;}(=])(?:from|import|require\(|import\(|createRequire\(import\.meta\.url\)\.resolve\() ?"((?:@[\w.-]+\/)?[\w.-]+)(?:\/[^"]*)?"/g,
  );
  const imported = [...specifiers].map(([, name = ""]) => name).filter(isPackage);
  return { code, modules, imported };
}

/**
 * Strips types, which leaves spaces. Trailing spaces are removed, except in lines that had some before, because those may be part
 * of a text.
 */
function withoutTypes(source: string): string {
  const lines = source.split("\n");
  return stripTypeScriptTypes(source)
    .split("\n")
    .map((line, at) => (/\s$/.test(lines[at] ?? "") ? line : line.trimEnd()))
    .join("\n");
}

/** Removes comments above a module and above its parts, which only developers need. Their lines stay, empty. */
const withoutComments = (source: string): string =>
  source
    .replace(/^(?:\/\/.*\n)+/, emptied)
    .replaceAll(/^[ \t]*\/\*\*(?:[^*]|\*(?!\/))*\*\/$/gm, emptied);

const emptied = (lines: string): string => lines.replaceAll(/.+/g, "");

const isPackage = (name: string) => !name.startsWith(".") && !name.startsWith("node:");

function manifestOf(manifest: Manifest, imported: ReadonlySet<string>): string {
  const { version, description, license, dependencies } = manifest;
  const needed = Object.entries(dependencies).filter(([name]) => imported.has(name));
  const missing = [...imported].filter((name) => dependencies[name] === undefined);
  if (missing.length > 0)
    throw new Error(`The service imports ${missing.join(", ")}, no dependency of package.json.`);
  const written = {
    name: "quarterdeck",
    version,
    description,
    license,
    type: "module",
    bin: { quarterdeck: bin },
    engines: { node: ">=24" },
    dependencies: Object.fromEntries(needed),
  };
  return `${JSON.stringify(written, null, 2)}\n`;
}

async function copyInto(folder: string, path: string): Promise<void> {
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true });
  await copyFile(join(root, path), target);
}

if (import.meta.main) console.log(await packQuarterdeck(resolve(process.argv[2] ?? root)));
