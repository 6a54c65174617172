// Generates requests from the OpenAPI description: valid, nearly valid and hostile ones.
import fc from "fast-check";
import type { Described, Schema } from "./description.ts";
import { hostileId, hostileJson, hostileQuery, hostileText } from "./hostile.ts";

/** Token of the request; `header` is sent as the whole `Authorization` header. */
type Login = "full" | "read" | "narrowed" | "none" | { header: string };

export type Planned = {
  method: string;
  /** Contains `{id}` as a placeholder for the id of an existing object. */
  path: string;
  login: Login;
  headers: (readonly [string, string])[];
  body: Uint8Array | null;
};

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

const utf8 = (text: string) => new TextEncoder().encode(text);

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

const bodyOf = (schema: Schema): fc.Arbitrary<Uint8Array | null> =>
  fc.oneof(
    { weight: 4, arbitrary: validFields(schema).map(toObject).map(utf8) },
    { weight: 9, arbitrary: nearlyValid(schema).map(utf8) },
    { weight: 1, arbitrary: hostileJson.map(utf8) },
    { weight: 1, arbitrary: malformed },
    { weight: 1, arbitrary: fc.constant(null) },
  );

const login: fc.Arbitrary<Login> = fc.oneof(
  { weight: 60, arbitrary: fc.constant<Login>("full") },
  { weight: 6, arbitrary: fc.constantFrom<Login>("read", "narrowed", "none") },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(
        "Bearer",
        "Bearer  ",
        "Bearer x",
        "bearer 1|x",
        "Basic dXNlcjpwYXNz",
        "Bearer 1|",
        "Bearer 0|x",
        "Bearer 2147483648|x",
        "Bearer 99999999999999999999|x",
        "Bearer |x",
        "Bearer 1|qd_x|y",
        "Bearer \u00ff",
        `Bearer ${"9".repeat(5000)}`,
        "Bearer null",
        ",",
      )
      .map((header) => ({ header })),
  },
);

const oddHeaders: fc.Arbitrary<readonly [string, string]> = fc.constantFrom<[string, string][]>(
  ["Accept", "text/html"],
  ["Accept", "*/*;q=x"],
  ["Accept-Encoding", "br, gzip;q=0"],
  ["Content-Type", "text/plain"],
  ["Content-Type", "application/json; charset=utf-16"],
  ["Content-Type", "application/x-www-form-urlencoded"],
  ["Content-Type", "multipart/form-data"],
  ["Content-Encoding", "gzip"],
  ["Content-Length", "99999999"],
  ["If-None-Match", "*"],
  ["If-None-Match", `W/"x", ${'"y",'.repeat(500)}`],
  ["If-Match", '"x"'],
  ["Range", "bytes=0-0,5-,-1"],
  ["Origin", "http://evil.example"],
  ["Referer", "http://evil.example/?token=1"],
  ["Cookie", "__proto__=1; token=x"],
  ["X-Forwarded-For", "127.0.0.1, ::1"],
  ["X-Forwarded-Host", "evil.example"],
  ["X-Forwarded-Proto", "gopher"],
  ["X-HTTP-Method-Override", "DELETE"],
  ["X-Original-URL", "/api/tokens"],
  ["X-Request-Id", "x".repeat(1000)],
  ["X-Request-Id", "<script>"],
  ["Upgrade", "websocket"],
  ["Traceparent", "00-0-0-0"],
  ["Accept-Language", "\u00ff\u00fe"],
);

const headers: fc.Arbitrary<Planned["headers"]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Planned["headers"]>([]) },
  { weight: 1, arbitrary: fc.array(oddHeaders, { minLength: 1, maxLength: 3 }) },
);

const query = (names: string[]): fc.Arbitrary<string> => {
  const plain = fc
    .tuple(fc.constantFrom("page", ...names), fc.constantFrom("1", "2", "20", "worker"))
    .map(([name, value]) => `${name}=${value}`);
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant("") },
    { weight: 1, arbitrary: plain.map((text) => `?${text}`) },
    {
      weight: names.length > 0 ? 3 : 1,
      arbitrary: fc
        .array(fc.oneof(plain, hostileQuery), { maxLength: 3 })
        .map((all) => `?${all.join("&")}`),
    },
  );
};

const pathOf = (path: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constant(path) },
    { weight: 2, arbitrary: hostileId.map((id) => path.replace(/\{\w+\}/, () => id)) },
  );

const asked = (operation: Described): fc.Arbitrary<Planned> =>
  fc
    .tuple(
      pathOf(operation.path),
      query(operation.query),
      login,
      headers,
      operation.body === null
        ? fc.option(hostileJson.map(utf8), { freq: 6, nil: null })
        : bodyOf(operation.body),
    )
    .map(([path, search, who, more, body]) => ({
      method: operation.method,
      path: path + search,
      login: who,
      headers: [["Content-Type", "application/json"], ...more],
      body: operation.method === "GET" ? null : body,
    }));

const oddPaths = [
  "/",
  "/healthz",
  "/readyz",
  "/metrics",
  "/openapi.json",
  "/api",
  "/api/",
  "/api/nothing",
  "/api//servers",
  "/api/servers/",
  "/api/servers.json",
  "/api/../metrics",
  "/API/servers",
  "/api/%73ervers",
  "/api/servers%00",
  "/api/servers;x=1",
  "/api/worker/{id}/nothing",
  "/assets/../../package.json",
  "/assets/%2e%2e/package.json",
  "/.env",
  "/servers/1/backups",
  "/api/..%2fmetrics",
  "/api/constructor",
  "/__proto__",
  "/%",
  "/%ff",
  `/${"x/".repeat(500)}`,
];

/** @param methods methods in addition to common ones */
function besideIt(described: readonly Described[], methods: string[]): fc.Arbitrary<Planned> {
  const paths = [...oddPaths, ...described.map(({ path }) => path)];
  return fc.record({
    method: fc.constantFrom("GET", "POST", "PUT", "HEAD", "PATCH", "OPTIONS", ...methods),
    path: fc.constantFrom(...paths),
    login,
    headers,
    body: fc.constant(null),
  });
}

const hasBody = ({ body }: Described) => body !== null;

export const plannedRequest = (
  described: readonly Described[],
  methods: string[] = [],
): fc.Arbitrary<Planned> =>
  fc.oneof(
    // Operations with a body come most often, because most can be wrong with them.
    { weight: 6, arbitrary: fc.constantFrom(...described.filter(hasBody)).chain(asked) },
    { weight: 5, arbitrary: fc.constantFrom(...described).chain(asked) },
    { weight: 1, arbitrary: besideIt(described, methods) },
  );
