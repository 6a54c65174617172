import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Worker } from "node:worker_threads";
import { armor, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, describe, expect, test } from "vitest";
import { CommandMissing, type Host } from "../hosts/host.ts";
import { createLocalHost } from "../hosts/local.ts";
import { createDecrypt, findFileKey } from "./decrypt.ts";
import { createEncrypt } from "./encrypt.ts";

const folder = mkdtempSync(join(tmpdir(), "quarterdeck-encryption-"));
afterAll(() => rmSync(folder, { recursive: true }));

const hasAge = spawnSync("age", ["--version"]).error === undefined;
const identity = await generateX25519Identity();
const recipients = [await identityToRecipient(identity)];
const { PATH = "" } = process.env;
const withProgram = createLocalHost({ PATH, HOME: "/" });
const withoutProgram: Pick<Host, "run"> = {
  run: () => Promise.reject(new CommandMissing("age could not be started: ENOENT")),
};
/** A program that exits silently after the first piece of its input. */
const dying: Pick<Host, "run"> = {
  run: ({ argv, ...command }) =>
    withProgram.run({
      ...command,
      argv: argv.includes("--version") ? ["true"] : ["sh", "-c", "head -c 1000; exit 3"],
    }),
};

const never = new AbortController().signal;
async function* inPieces(content: Buffer, bytes = 100_000) {
  for (let at = 0; at < content.length; at += bytes) yield content.subarray(at, at + bytes);
}

describe.skipIf(!hasAge).each([
  ["by the program", withProgram],
  ["by the library", withoutProgram],
])("%s", (_name, host) => {
  test.each([0, 1, 65_535, 65_536, 65_537, 3_000_000])(
    "%i bytes are decrypted by the program as well as here",
    async (bytes) => {
      const content = randomBytes(bytes);
      const encrypt = await createEncrypt(host, recipients);
      const stored = await buffer(encrypt(inPieces(content), never));
      const key = await findFileKey(async () => inPieces(stored, 100), { identity });
      expect((await buffer(createDecrypt(key)(inPieces(stored)))).equals(content)).toBe(true);
      const [file, keyFile] = [join(folder, "stored.age"), join(folder, "key.txt")];
      writeFileSync(file, stored);
      writeFileSync(keyFile, identity);
      const plain = execFileSync("age", ["--decrypt", "--identity", keyFile, file], {
        maxBuffer: 2 * content.length + 1,
      });
      expect(plain.equals(content)).toBe(true);
    },
  );

  test("an error of the source becomes the error of the output instead of its end", async () => {
    const encrypt = await createEncrypt(host, recipients);
    async function* breaking() {
      yield randomBytes(500_000);
      throw new Error("The dump broke off.");
    }
    await expect(buffer(encrypt(breaking(), never))).rejects.toThrow("The dump broke off.");
  });

  test("a reader that stops early ends the program, and its source", async () => {
    const encrypt = await createEncrypt(host, recipients);
    let isEnded = false;
    async function* endless() {
      try {
        for (;;) yield randomBytes(100_000);
      } finally {
        isEnded = true;
      }
    }
    for await (const _ of encrypt(endless(), never)) break;
    await expect.poll(() => isEnded).toBe(true);
  });
});

test.skipIf(!hasAge)("an abort ends the program with its reason", async () => {
  const encrypt = await createEncrypt(withProgram, recipients);
  const giveUp = new AbortController();
  async function* stalled() {
    yield randomBytes(500_000);
    giveUp.abort(new Error("given up"));
    await new Promise(() => undefined);
  }
  await expect(buffer(encrypt(stalled(), giveUp.signal))).rejects.toThrow("given up");
});

test("a program that exits early is an error", async () => {
  const encrypt = await createEncrypt(dying, recipients);
  await expect(buffer(encrypt(inPieces(randomBytes(1_000_000)), never))).rejects.toThrow(
    "age couldn't encrypt the backup",
  );
});

test("an invalid recipient is reported with its position", async () => {
  await expect(createEncrypt(withProgram, [...recipients, "age1nonsense"])).rejects.toThrow(
    /^Recipient 2 of the storage provider is no public key of age/,
  );
});

test("passphrases are tried one after the other, however many requests arrive at once", async () => {
  const encrypt = await createEncrypt(withoutProgram, recipients);
  const stored = await buffer(encrypt(inPieces(randomBytes(10)), never));
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

test("a damaged stored file breaks off before its end", async () => {
  const encrypt = await createEncrypt(withoutProgram, recipients);
  const stored = await buffer(encrypt(inPieces(randomBytes(200_000)), never));
  const key = await findFileKey(async () => inPieces(stored), { identity });
  stored[stored.length - 1] = (stored.at(-1) ?? 0) ^ 1;
  await expect(buffer(createDecrypt(key)(inPieces(stored)))).rejects.toThrow(/tag/i);
  const other = async () => inPieces(Buffer.from("no age"));
  await expect(findFileKey(other, { identity })).rejects.toThrow(
    "The stored file isn't encrypted by age, or its beginning is damaged.",
  );
});
