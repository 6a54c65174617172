// Tests archives that no tar wrote: a site's account can write anything into the pipe of the tar that runs as that account.
import { expect, test } from "vitest";
import { createArchiveInspector } from "./archive.ts";

function header(type: string, sizeBytes: number): Buffer {
  const block = Buffer.alloc(512);
  block.write("name", 0);
  block.write("0000644\0", 100);
  block.write(`${sizeBytes.toString(8).padStart(11, "0")}\0`, 124);
  block.write(type, 156);
  block.write("ustar\x0000", 257);
  return block;
}

function summaryOf(...parts: Buffer[]) {
  const inspector = createArchiveInspector();
  for (const part of [...parts, Buffer.alloc(1024)]) inspector.inspect(part);
  return inspector.summary();
}

test("an archive whose extended header is not a list of records is invalid", () => {
  const content = Buffer.from("1\n".repeat(512));
  expect(summaryOf(header("x", content.length), content).isWhole).toBe(false);
});

test("extended headers without an entry are not accumulated", () => {
  const record = Buffer.from(`512 k=${"a".repeat(505)}\n`);
  const lots = Array.from({ length: 3 }, () => [header("x", record.length), record]).flat();
  expect(record).toHaveLength(512);
  expect(summaryOf(...lots).isWhole).toBe(false);
});
