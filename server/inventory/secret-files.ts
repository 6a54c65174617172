// Secrets that somebody typed into a form: each in a file of its own below `secrets/` beside the inventory, which names it. A
// changed secret is another file, so that it comes into force with the entry that names it, and not before.
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { InventoryKind } from "../../contract/inventory/entries.ts";
import { ownAccount } from "../hosts/account.ts";
import { syncFolder } from "./replace-file.ts";

const folderName = "secrets";
/** As `store` names them: nothing else in the folder is touched. */
const ownName = /^[a-z-]+-\d+-[a-z-]+-[0-9a-f]{12}$/;
const ownReference = new RegExp(`^file:${folderName}/(${ownName.source.slice(1, -1)})$`);

/** One that was left by a crash is older than a change that is under way. */
const leftAfterMs = 60_000;

/** The folder is not one to put secrets into; the message is for the operator. */
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
 * Takes what was typed out of an entry.
 * @param refer what stands in its place
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

/** The name of a new file; nothing in it comes from a request but numbers and the names of fields. */
export function nameSecret(kind: InventoryKind, id: number, path: readonly string[]): string {
  const words = path.filter((word) => word !== "connection" && word !== "ssh");
  const name = [kind, id, ...words].join("-").replaceAll("_", "-");
  return `${name}-${randomBytes(6).toString("hex")}`;
}

export const referenceTo = (name: string): string => `file:${folderName}/${name}`;

/** The files of ours that a text names. */
export const secretsIn = (entry: unknown): string[] => {
  if (typeof entry === "string") return ownReference.exec(entry)?.slice(1, 2) ?? [];
  return typeof entry === "object" && entry !== null ? Object.values(entry).flatMap(secretsIn) : [];
};

export function createSecretFiles(inventoryFile: string) {
  const beside = dirname(inventoryFile);
  const folder = join(beside, folderName);

  /** A folder of our own account that nobody else can enter, and no link to anywhere. @throws SecretFolderError */
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
     * Stores them all, or none.
     * @param secrets by the names of their files
     * @throws SecretFolderError, or what the file system says
     */
    async store(secrets: ReadonlyMap<string, string>): Promise<void> {
      if (secrets.size === 0) return;
      await prepare();
      try {
        for (const [name, secret] of secrets) {
          // Never through a link, and never over what is there.
          const file = await open(join(folder, name), "wx", 0o600);
          try {
            // ssh wants a line break at the end of a key; a reader of any other secret drops it.
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

    /** Removes what a crash left between a secret and its entry: files of ours that no inventory beside names. */
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
