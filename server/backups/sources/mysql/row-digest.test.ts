import { expect, test } from "vitest";
import { createRowDigest } from "./row-digest.ts";

function digestOf(rows: readonly string[], pieceBytes = 1e9): string {
  const digest = createRowDigest();
  for (const row of rows) {
    const bytes = Buffer.from(row);
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      digest.update(new DataView(piece.buffer, piece.byteOffset, piece.length), 0, piece.length);
    }
    digest.endRow();
  }
  return digest.sum();
}

const rows = Array.from({ length: 200 }, (_, n) => `${n},'${"ü".repeat(n % 9)}${n * 7}'`);

test("depends neither on the order of rows nor on how they are split into chunks", () => {
  const whole = digestOf(rows);
  expect(whole).toMatch(/^[0-9a-f]{16}$/);
  expect(digestOf(rows.toReversed())).toBe(whole);
  for (const pieceBytes of [1, 2, 3, 5, 7]) expect(digestOf(rows, pieceBytes)).toBe(whole);
});

test("differs for one changed, missing, duplicate or split row, and is zero for none", () => {
  const variants = [
    rows,
    rows.slice(1),
    [...rows, rows[0] ?? ""],
    [...rows.slice(1), "0,'1'"],
    [...rows.slice(1), "0,", "'0'"],
    [...rows, ""],
    [...rows, "\0"],
    [...rows, "\0\0"],
  ];
  expect(new Set(variants.map((variant) => digestOf(variant))).size).toBe(variants.length);
  expect(digestOf([])).toBe("0".repeat(16));
});
