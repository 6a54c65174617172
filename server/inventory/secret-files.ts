// Stores secrets that were entered in forms: each in its own file in `secrets/` beside the inventory, which refers to it. A
// changed secret gets a new file, so that it comes into force together with its entry.
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { InventoryKind } from "../../contract/inventory/entries.ts";
import { ownAccount } from "../hosts/account.ts";
import { syncFolder } from "../sync-folder.ts";

const folderName = "secrets";
/** Pattern of the names from `nameSecret`: other files in the folder are never touched. */
const ownName = /^[a-z-]+-\d+-[a-z-]+-[0-9a-f]{12}$/;
const ownReference = new RegExp(`^file:${folderName}/(${ownName.source.slice(1, -1)})$`);

/** A file that a crash left is older than any change in progress. */
const leftAfterMs = 60_000;

/** The folder is not safe for secrets; the message is for the operator. */
export class SecretFolderError extends Error {
  override name = "SecretFolderError";
}

type Typed = { secret: string };
const isTyped = (value: unknown): value is Typed =>
  typeof value === "object" &&
  value !== null &&
  "secret" in value &&
  typeof value.secret === "string";

type TypedSecret = { path: string[]; secret: string };

/**
 * Removes entered secrets from an entry.
 * @param refer returns the reference that replaces a secret
 */
export function withoutSecrets(
  entry: object,
  refer: (typed: TypedSecret) => string,
  path: string[] = [],
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(entry).map(([name, value]: [string, unknown]) => {
      const place = [...path, name];
      if (isTyped(value)) return [name, refer({ path: place, secret: value.secret })];
      const isNested = typeof value === "object" && value !== null && !Array.isArray(value);
      return [name, isNested ? withoutSecrets(value, refer, place) : value];
    }),
  );
}

/** Returns a name for a new file. Only numbers and names of fields come from the request. */
export function nameSecret(kind: InventoryKind, id: number, path: readonly string[]): string {
  const words = path.filter((word) => word !== "connection" && word !== "ssh");
  const name = [kind, id, ...words].join("-").replaceAll("_", "-");
  return `${name}-${randomBytes(6).toString("hex")}`;
}

export const referenceTo = (name: string): string => `file:${folderName}/${name}`;

/** Returns the names of this module's files that an entry refers to. */
export const secretsIn = (entry: unknown): string[] => {
  if (typeof entry === "string") return ownReference.exec(entry)?.slice(1, 2) ?? [];
  return typeof entry === "object" && entry !== null ? Object.values(entry).flatMap(secretsIn) : [];
};

export function createSecretFiles(inventoryFile: string) {
  const beside = dirname(inventoryFile);
  const folder = join(beside, folderName);

  /**
   * Creates or checks the folder: it belongs to the service's account, is private, and not a link.
   * @throws SecretFolderError
   */
  async function prepare(): Promise<void> {
    await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    const found = await lstat(folder);
    if (!found.isDirectory() || found.uid !== ownAccount().uid)
      throw new SecretFolderError(
        `${folder} is not a folder of Quarterdeck's account. Move it away, or name the secret as “env:NAME” or “file:PATH”.`,
      );
    if ((found.mode & 0o077) !== 0) await chmod(folder, 0o700);
  }

  const remove = async (names: readonly string[]): Promise<void> => {
    for (const name of names)
      if (ownName.test(name)) await rm(join(folder, name), { force: true }).catch(() => undefined);
  };

  return {
    /**
     * Stores all secrets, or none.
     * @param secrets by names of their files
     * @throws SecretFolderError, or file system errors
     */
    async store(secrets: ReadonlyMap<string, string>): Promise<void> {
      if (secrets.size === 0) return;
      await prepare();
      try {
        for (const [name, secret] of secrets) {
          // Never follows a link, and never overwrites a file.
          const file = await open(join(folder, name), "wx", 0o600);
          try {
            // `ssh` requires a newline at the end of a key; readers of other secrets remove it.
            await file.writeFile(`${secret.replace(/\r\n/g, "\n").replace(/\n$/, "")}\n`);
            await file.chmod(0o600);
            await file.sync();
          } finally {
            await file.close();
          }
        }
        await syncFolder(folder);
      } catch (error) {
        await remove([...secrets.keys()]);
        throw error;
      }
    },

    remove,

    /**
     * Removes files that a crash left between storing a secret and its entry: those that no inventory in the folder above refers
     * to.
     */
    async removeLeft(nowMs: number): Promise<void> {
      const found = await readdir(folder).catch((): string[] => []);
      const names = found.filter((name) => ownName.test(name));
      if (names.length === 0) return;
      const files = (await readdir(beside)).filter((name) => /\.(?:ya?ml|quarterdeck)$/.test(name));
      const texts = await Promise.all(files.map((name) => readFile(join(beside, name), "utf8")));
      for (const name of names) {
        if (texts.some((text) => text.includes(name))) continue;
        const { mtimeMs } = await lstat(join(folder, name));
        if (nowMs - mtimeMs > leftAfterMs) await remove([name]);
      }
    },
  };
}
