// Opens a stored backup of Quarterdeck itself: verified, decrypted and decompressed.
import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { createZstdDecompress } from "node:zlib";
import { pipeline } from "node:stream/promises";
import { PassThrough } from "node:stream";
import type { ListedStorage } from "../storage/storage.ts";
import { toError } from "../to-error.ts";
import { isEncrypted } from "../encryption/encrypt.ts";
import { createDecryption } from "./encryption.ts";
import { SelfBackupError } from "./self-backup-error.ts";
import { selfFolder } from "./store-archive.ts";
import { selfManifestSchema } from "./stored-manifest.ts";

const storedName = /\.tar\.zst(?:\.age)?$/;

export const isStoredName = (key: string): boolean => storedName.test(key);

/**
 * Returns the key of the newest backup.
 * @throws SelfBackupError there is none
 */
export async function findNewest(
  storage: ListedStorage,
  prefix: string,
  signal: AbortSignal,
): Promise<string> {
  const keys: string[] = [];
  for await (const { key } of storage.list({ signal, prefix: `${prefix}${selfFolder}` }))
    keys.push(key);
  const newest = keys
    .filter((key) => isStoredName(key) && keys.includes(`${key}.json`))
    .sort()
    .at(-1);
  if (newest === undefined)
    throw new SelfBackupError(
      `There is no backup of Quarterdeck itself in ${storage.place}, below ${prefix}${selfFolder}.`,
    );
  return newest;
}

type Stored = {
  storage: Pick<ListedStorage, "get" | "size" | "place">;
  key: string;
  /** Text of an age identity file; null = none was given. */
  identities: string | null;
  signal: AbortSignal;
};

/**
 * Returns the archive. Its last piece is only passed on where the file matches the manifest beside it.
 * @returns `isKnown`: whether there is a manifest
 * @throws SelfBackupError, StorageError
 */
export async function openStored({ storage, key, identities, signal }: Stored) {
  const needsIdentity = isEncrypted(key);
  if (needsIdentity && identities === null)
    throw new SelfBackupError(
      `${key} is encrypted. Set QUARTERDECK_IDENTITY=file:/path to the file with the private key of age.`,
    );
  const decrypt =
    needsIdentity && identities !== null ? await createDecryption(identities) : passOn;
  const isKnown = (await storage.size(`${key}.json`)) !== null;
  const expected = isKnown ? await readSum(storage, key, signal) : null;
  const source = await storage.get(key, { signal });
  const content = new PassThrough();
  const flown = pipeline(
    source,
    checkedBy(expected, `${key} in ${storage.place}`),
    decrypt,
    createZstdDecompress(),
    content,
    { signal },
  );
  // An error here is reported to the reader of `content`.
  flown.catch(() => undefined);
  return { content: readable(content, `${key} in ${storage.place}`, signal), isKnown };
}

async function* passOn(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* source;
}

async function readSum(
  storage: Stored["storage"],
  key: string,
  signal: AbortSignal,
): Promise<string> {
  const text = (await buffer(await storage.get(`${key}.json`, { signal }))).toString();
  try {
    const { sha256, name } = selfManifestSchema.parse(JSON.parse(text));
    if (key.split("/").at(-1) === name) return sha256;
  } catch {
    // The file was not written by Quarterdeck.
  }
  throw new SelfBackupError(`${key}.json in ${storage.place} is not its manifest, or damaged.`);
}

/** Holds back the last piece until all of the content is verified. */
const checkedBy = (expected: string | null, what: string) =>
  async function* check(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const hash = createHash("sha256");
    let held: Buffer | null = null;
    for await (const piece of source) {
      hash.update(piece);
      if (held !== null) yield held;
      held = piece;
    }
    if (expected !== null && hash.digest("hex") !== expected)
      throw new SelfBackupError(
        `Checksum mismatch: ${what} is not the file that was stored. Nothing was restored. Use another one.`,
      );
    if (held !== null) yield held;
  };

/** Translates errors of zlib and age about damage for operators. */
async function* readable(
  content: AsyncIterable<Buffer>,
  what: string,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    yield* content;
  } catch (error) {
    signal.throwIfAborted();
    const { name, message } = toError(error);
    if (name === "SelfBackupError" || name === "StorageError") throw error;
    throw new SelfBackupError(
      `${what} is damaged (${message.replace(/\.$/, "")}). Nothing was restored. Use another one.`,
      { cause: error },
    );
  }
}
