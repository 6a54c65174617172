import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Worker } from "node:worker_threads";
import {
  armor,
  Decrypter,
  Encrypter,
  generateX25519Identity,
  identityToRecipient,
} from "age-encryption";
import { array, assert, asyncProperty, integer } from "fast-check";
import { afterAll, expect, test } from "vitest";
import { createDecrypt, findFileKey } from "./decrypt.ts";
import { createEncrypt } from "./encrypt.ts";

const folder = mkdtempSync(join(tmpdir(), "quarterdeck-encryption-"));
afterAll(() => rmSync(folder, { recursive: true }));

const hasAge = spawnSync("age", ["--version"]).error === undefined;
const identity = await generateX25519Identity();
const recipients = [await identityToRecipient(identity)];
const encrypt = await createEncrypt(recipients);

async function* inPieces(content: Uint8Array, bytes = 100_000) {
  for (let at = 0; at < content.length; at += bytes) yield content.subarray(at, at + bytes);
}

async function decryptHere(stored: Uint8Array, bytes?: number): Promise<Buffer> {
  const key = await findFileKey(async () => inPieces(stored, 100), { identity });
  return buffer(createDecrypt(key)(inPieces(stored, bytes)));
}

async function decryptByLibrary(stored: Uint8Array): Promise<Uint8Array> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return decrypter.decrypt(stored);
}

async function encryptByLibrary(content: Uint8Array): Promise<Uint8Array> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return encrypter.encrypt(content);
}

const sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, 3_000_000];

test.each(sizes)("%i bytes are decrypted by the library, and the library's here", async (bytes) => {
  const content = randomBytes(bytes);
  const stored = await buffer(encrypt(inPieces(content)));
  expect(content.equals(await decryptByLibrary(stored))).toBe(true);
  expect(content.equals(await decryptHere(stored, 7_777))).toBe(true);
  const foreign = await encryptByLibrary(content);
  expect(foreign).toHaveLength(stored.length);
  expect(content.equals(await decryptHere(foreign))).toBe(true);
});

test.skipIf(!hasAge).each(sizes)(
  "%i bytes are decrypted by the program, and the program's here",
  async (bytes) => {
    const content = randomBytes(bytes);
    const keyFile = join(folder, "key.txt");
    writeFileSync(keyFile, identity);
    const age = (args: string[], input: Buffer) =>
      execFileSync("age", args, { input, maxBuffer: 2 * bytes + 10_000 });
    const stored = await buffer(encrypt(inPieces(content)));
    expect(content.equals(age(["--decrypt", "--identity", keyFile], stored))).toBe(true);
    const foreign = age(
      recipients.flatMap((one) => ["--recipient", one]),
      content,
    );
    expect(content.equals(await decryptHere(foreign))).toBe(true);
  },
);

test("pieces of any size are encrypted and decrypted in their order", async () => {
  const sizes = array(integer({ min: 0, max: 200_000 }), { maxLength: 12 });
  const property = asyncProperty(sizes, sizes, async (plainSizes, storedSizes) => {
    const pieces = plainSizes.map((bytes) => randomBytes(bytes));
    const content = Buffer.concat(pieces);
    async function* source() {
      for (const piece of pieces) {
        // Its memory is reused, as by a storage.
        const reused = Buffer.from(piece);
        yield reused;
        reused.fill(0);
      }
    }
    const stored = await buffer(encrypt(source()));
    expect(content.equals(await decryptByLibrary(stored))).toBe(true);
    const key = await findFileKey(async () => inPieces(stored), { identity });
    async function* split() {
      let at = 0;
      for (const bytes of storedSizes) yield stored.subarray(at, (at += bytes));
      yield stored.subarray(at);
    }
    expect(content.equals(await buffer(createDecrypt(key)(split())))).toBe(true);
  });
  await assert(property, { numRuns: 20 });
});

test("an error of the source becomes the error of the output instead of its end", async () => {
  async function* breaking() {
    yield randomBytes(500_000);
    throw new Error("The dump broke off.");
  }
  await expect(buffer(encrypt(breaking()))).rejects.toThrow("The dump broke off.");
});

test("a reader that stops early ends the source", async () => {
  let isEnded = false;
  async function* endless() {
    try {
      for (;;) yield randomBytes(100_000);
    } finally {
      isEnded = true;
    }
  }
  for await (const _ of encrypt(endless())) break;
  expect(isEnded).toBe(true);
});

test("an invalid recipient is reported with its position", async () => {
  await expect(createEncrypt([...recipients, "age1nonsense"])).rejects.toThrow(
    /^Recipient 2 of the storage provider is no public key of age/,
  );
});

test("passphrases are tried one after the other, however many requests arrive at once", async () => {
  const stored = await buffer(encrypt(inPieces(randomBytes(10))));
  const protect = new Encrypter();
  protect.setPassphrase("correct horse");
  protect.setScryptWorkFactor(12);
  const given = { identity: armor.encode(await protect.encrypt(identity)) };
  let [running, most] = [0, 0];
  const count = (worker: Worker) => {
    most = Math.max(most, ++running);
    worker.once("exit", () => (running -= 1));
  };
  process.on("worker", count);
  const passphrases = ["correct horse", "wrong", "correct horse"];
  const tried = await Promise.allSettled(
    passphrases.map((passphrase) =>
      findFileKey(async () => inPieces(stored), { ...given, passphrase }),
    ),
  );
  process.off("worker", count);
  expect(tried.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(most).toBe(1);
});

test("a file that is damaged, cut off or continued breaks off", async () => {
  const stored = await buffer(encrypt(inPieces(randomBytes(200_000))));
  const key = await findFileKey(async () => inPieces(stored), { identity });
  const decrypt = (file: Uint8Array) => buffer(createDecrypt(key)(inPieces(file)));
  const flipped = Buffer.from(stored);
  flipped[stored.length - 1] = (stored.at(-1) ?? 0) ^ 1;
  const sealedChunk = 65_536 + 16;
  const afterTwo = stored.length - (200_000 % 65_536) - 16 - sealedChunk;
  for (const file of [
    flipped,
    stored.subarray(0, -1),
    stored.subarray(0, afterTwo),
    stored.subarray(0, afterTwo + 10),
    Buffer.concat([stored, stored.subarray(-30)]),
    Buffer.concat([stored.subarray(0, afterTwo), stored.subarray(afterTwo + sealedChunk)]),
  ])
    await expect(decrypt(file)).rejects.toThrow("The encrypted file is damaged or cut off");
});

test("a file that isn't one of age is refused, and closed", async () => {
  for (const content of [Buffer.from("no age"), randomBytes(300_000), Buffer.alloc(0)]) {
    let isClosed = false;
    async function* file() {
      try {
        yield* inPieces(content);
      } finally {
        isClosed = true;
      }
    }
    await expect(findFileKey(async () => file(), { identity })).rejects.toThrow(
      "The stored file isn't encrypted by age, or its beginning is damaged.",
    );
    expect(isClosed).toBe(true);
  }
});
