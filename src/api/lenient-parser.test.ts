import { expect, test } from "vitest";
import * as z from "zod/mini";
import { pageOf } from "../../contract/paging.ts";
import { timestamp } from "../../contract/values.ts";
import { parseLeniently, toUtc } from "./lenient-parser.ts";

test.each([
  ["2026-01-31T09:30:00.123456Z", "2026-01-31T09:30:00.123456Z"],
  ["2026-01-31T10:30:00.123456+01:00", "2026-01-31T09:30:00.123456Z"],
  ["2026-01-31T04:00:00-0530", "2026-01-31T09:30:00.000000Z"],
  ["2026-01-31T09:30:00+00", "2026-01-31T09:30:00.000000Z"],
  ["2026-01-31 09:30:00", "2026-01-31T09:30:00.000000Z"],
  ["2026-01-31T09:30Z", "2026-01-31T09:30:00.000000Z"],
  ["2026-01-31T09:30:00.1234567891Z", "2026-01-31T09:30:00.123456Z"],
  ["2026-01-31", null],
  ["2026-13-31T09:30:00Z", null],
  ["yesterday", null],
])("parses the timestamp %s as %s", (text, expected) => {
  expect(toUtc(text)).toBe(expected);
});

const thing = z.object({
  id: z.int(),
  name: z.string(),
  made_at: timestamp,
  ended_at: z.nullable(timestamp),
  hints: z.optional(z.array(z.string())),
  parts: z.array(z.object({ id: z.int(), at: timestamp })),
});
const utc = "2026-01-31T09:30:00.000000Z";
const plain = { id: 3, name: "a", made_at: utc, ended_at: null, parts: [] };

const read = (change: Record<string, unknown>) =>
  parseLeniently(thing, { ...plain, ...change })?.data ?? null;

test("accepts a single object in `data`, and lists with their own", () => {
  expect(parseLeniently(thing, { data: { ...plain }, meta: {} })?.data).toEqual(plain);
  const page = {
    data: [{ ...plain, made_at: "2026-01-31T09:30:00Z" }],
    links: { first: "", last: "", prev: null, next: null },
    meta: { current_page: 1, from: 1, to: 1, last_page: 1, path: "", per_page: 20, total: 1 },
  };
  expect(parseLeniently(pageOf(thing), page)?.data.data).toEqual([plain]);
});

test("parses timestamps in other formats anywhere", () => {
  expect(
    read({ made_at: "2026-01-31T10:30:00+01:00", parts: [{ id: 1, at: "2026-01-31 09:30:00" }] }),
  ).toEqual({ ...plain, parts: [{ id: 1, at: utc }] });
});

test("omits a field that only shares its name with one of ours", () => {
  expect(read({ hints: "none", colour: 7 })).toEqual(plain);
  expect(read({ hints: null })).toEqual(plain);
});

test("replaces missing nullable fields by null, and a null text by an empty one", () => {
  const { ended_at: _, ...without } = plain;
  expect(parseLeniently(thing, without)?.data).toEqual(plain);
  expect(read({ name: null, parts: null })).toEqual({ ...plain, name: "" });
});

test.each([{ id: null }, { id: "3" }, { made_at: "yesterday" }, { parts: [7] }])(
  "never guesses: %o is unreadable",
  (change) => {
    expect(read(change)).toBeNull();
  },
);

test.each([undefined, null, "text", [], {}])("%o is not such an object", (body) => {
  expect(parseLeniently(thing, body)).toBeNull();
});
