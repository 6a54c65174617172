// Generates requests from the OpenAPI description: valid, nearly valid and hostile ones.
import fc from "fast-check";
import { bodyOf, utf8 } from "./bodies.ts";
import type { Described } from "./description.ts";
import { hostileId, hostileJson, hostileQuery } from "./hostile.ts";

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
