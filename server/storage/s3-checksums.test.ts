import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { checksumOf, isConfirmed } from "./s3-checksums.ts";

const content = Buffer.from("what is sent");
const md5 = createHash("md5").update(content).digest("hex");
const sent = createHash("sha256").update(content).digest("base64");

test("the checksum is SHA-256 in the service's format", async () => {
  expect(await checksumOf(content)).toBe(sent);
});

test.each([
  ["its SHA-256", { ChecksumSHA256: sent }, true],
  ["its SHA-256, with an ETag of its own kind", { ChecksumSHA256: sent, ETag: '"x"' }, true],
  ["its MD5 as the ETag", { ETag: `"${md5}"` }, true],
  ["an ETag of another kind", { ETag: `"${"0".repeat(32)}"` }, false],
  ["nothing", {}, false],
])("a service that returns %s", (_, answer, is) => {
  expect(isConfirmed(answer, content, sent, "bucket b")).toBe(is);
});

test("a service that received something else fails the run", () => {
  const other = createHash("sha256").update("another").digest("base64");
  expect(() => isConfirmed({ ChecksumSHA256: other }, content, sent, "bucket b")).toThrow(
    "bucket b received something else than was sent: its checksum differs.",
  );
});
