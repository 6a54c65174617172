// Generates bodies of requests from their schema: valid, nearly valid and malformed ones.
import fc from "fast-check";
import type { Schema } from "./description.ts";
import { hostileJson, hostileText } from "./hostile.ts";

const few = (...texts: string[]) => fc.constantFrom(...texts.map((text) => JSON.stringify(text)));
const number = (...values: number[]) => fc.constantFrom(...values.map(String));

/** Valid values that follow only from the meaning of a field. URLs lead to a closed port of this machine. */
const byName: Record<string, fc.Arbitrary<string>> = {
  name: few("nightly", "Ünïcode 😀", "a"),
  frequency: few("0 3 * * *", "*/30 1-5 * JAN-MAR MON,FRI", "59 23 29 2 *"),
  directory: few(".", "nightly", "a/b"),
  connection: few("database", "redis", "_"),
  queue: few("default", "high,{low}", "a:b.c-d"),
  url: few("http://127.0.0.1:9/hook", "http://127.0.0.1:9/?a=b#c"),
  expires_at: few("2099-01-01T00:00:00.000000Z", "2020-01-01T00:00:00.000000Z"),
  commit: few("766b4a2", "x"),
  storage_provider_id: number(1, 2),
  backupable_id: number(1, 2),
  channels: fc.constantFrom("[]", "[1]", "[1,2]", "[2,2,1]"),
  server_ids: fc.constantFrom("[1]", "[2]", "[1,2]", "null"),
  // More processes would only be slower.
  processes: number(1, 2),
};

/** Values that match the form of a field, but are invalid. */
const nearby = new Map<string, fc.Arbitrary<string>>(
  Object.entries({
    frequency: few(
      "0 0 31 2 *",
      "*/0 * * * *",
      "60 * * * *",
      "* * * * * *",
      "@daily",
      "5-1 * * * *",
    ),
    directory: few("..", "a/../..", "/etc", "a/", "//", "~", "-x", "a\u007fb", "\ud800"),
    connection: few("-", "--once", "-vvv", "a b", "größe"),
    queue: few(",", "a,,b", "a, b", "-x", "--force"),
    url: few(
      "http://127.0.0.1:99999/",
      "http://169.254.169.254/",
      "http://[::1",
      "http://user:pw@127.0.0.1/",

      "file:///etc/passwd",
      "javascript:alert(1)",
      "http://127.0.0.1:9/\ud800",
      "http://127.0.0.1:9/\u0000",
    ),
    expires_at: few(
      "2026-13-45T99:99:99.999999Z",
      "2026-02-30T00:00:00.000000Z",
      "0000-00-00T00:00:00.000000Z",

      "0000-01-01T00:00:00.000000Z",
      "9999-12-31T23:59:59.999999Z",
      "2026-01-01T24:00:00.000000Z",
    ),
    since: few("2026-02-30T00:00Z", "0000-01-01T00:00Z", "9999-12-31T23:59:59.999999Z"),
    message: few("a\u0000b", "\ud800", "\udc00\ud800"),
    channels: fc.constantFrom("[99]", "[1,99]", "[0]", "[2147483648]", "[1.5]", '["1"]', "[null]"),
    server_ids: fc.constantFrom("[99]", "[2147483647]", "[2147483648]", "[-1]", "[]", '["1"]'),
    storage_provider_id: number(0, 99, 2_147_483_647, 2_147_483_648),
    backupable_id: number(0, 99, 2_147_483_647, 2_147_483_648),
  }),
);

function valid(name: string, schema: Schema): fc.Arbitrary<string> {
  const known = byName[name];
  if (known !== undefined) return known;
  if (schema.anyOf !== undefined)
    return fc.oneof(...schema.anyOf.map((option) => valid("", option)));
  if (schema.enum !== undefined) return few(...schema.enum);
  const { minimum: min = 0, maximum: max = min + 1000 } = schema;
  switch (schema.type) {
    case "integer":
      return fc.oneof(
        number(min, min + 1, max),
        fc.integer({ min, max: Math.min(max, min + 99) }).map(String),
      );
    case "boolean":
      return fc.constantFrom("true", "false");
    case "array":
      return fc
        .array(valid("", schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 2 })
        .map((items) => `[${items.join(",")}]`);
    case "string":
      return fc
        .string({ maxLength: Math.min(schema.maxLength ?? 20, 20) })
        .map((text) => JSON.stringify(text));
    default:
      return fc.constant("null");
  }
}

type Field = readonly [name: string, json: string];
const toObject = (fields: readonly Field[]) =>
  `{${fields.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;

function validFields({ properties = {}, required = [] }: Schema): fc.Arbitrary<Field[]> {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const field = valid(name, schema).map((json): Field => [name, json]);
    return required.includes(name) ? field : fc.option(field, { nil: null });
  });
  return fc.tuple(...fields).map((all) => all.filter((field) => field !== null));
}

const oddNames = ["__proto__", "constructor", "toString", "id", "", "a.b", "status", "token"];

/** A valid body with one or two changes: fields that are invalid, duplicate, missing or unknown. */
const nearlyValid = (schema: Schema): fc.Arbitrary<string> => {
  const names = Object.keys(schema.properties ?? {});
  const anything = fc.oneof(
    hostileJson,
    hostileText.map((text) => JSON.stringify(text)),
  );
  const change = fc.constantFrom(...names, ...names, ...names, ...oddNames).chain((name) =>
    fc.record({
      name: fc.constant(name),
      json: fc.oneof(anything, nearby.get(name) ?? anything),
      how: fc.constantFrom("replace", "replace", "replace", "add", "remove"),
    }),
  );
  return fc
    .tuple(validFields(schema), fc.array(change, { minLength: 1, maxLength: 2 }))
    .map(([fields, changes]) =>
      toObject(
        changes.reduce<Field[]>((all, { name, json, how }) => {
          const others = how === "add" ? all : all.filter(([other]) => other !== name);
          return how === "remove" ? others : [...others, [name, json]];
        }, fields),
      ),
    );
};

export const utf8 = (text: string) => new TextEncoder().encode(text);

const malformed: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc
    .constantFrom(
      "{",
      "}",
      '{"a"',
      '{"a":}',
      '{"a":1,}',
      "[",
      "[1",
      '"',
      "'a'",
      "nul",
      "NaN",
      "{a:1}",
      " ",

      "\ufeff{}",
      "{}{}",
      "// {}",
      '{"a":"\u0000"}',
      "[".repeat(100_000),
      "\u0000",
      "7",
      "null",
      `{"name":"${"x".repeat(200_000)}"}`,
      " ".repeat(1024 * 1024 + 1),
    )
    .map(utf8),
  fc.uint8Array({ minLength: 1, maxLength: 60 }),
);

export const bodyOf = (schema: Schema): fc.Arbitrary<Uint8Array | null> =>
  fc.oneof(
    { weight: 4, arbitrary: validFields(schema).map(toObject).map(utf8) },
    { weight: 9, arbitrary: nearlyValid(schema).map(utf8) },
    { weight: 1, arbitrary: hostileJson.map(utf8) },
    { weight: 1, arbitrary: malformed },
    { weight: 1, arbitrary: fc.constant(null) },
  );
