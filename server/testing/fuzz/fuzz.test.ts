// Tests that the fuzzer detects wrong responses.
import { expect, test } from "vitest";
import { servedOperations } from "../../../contract/served-operations.ts";
import { describeOperations } from "../../http/openapi.ts";
import type { Resources } from "../resources.ts";
import { describedOperations, type Description } from "./description.ts";
import { createFuzz } from "./fuzz.ts";

// The description after serialization, as clients get it.
const description: Description = JSON.parse(
  JSON.stringify(
    describeOperations(Object.entries(servedOperations), { version: "1", url: "http://a.test" }),
  ),
);

const resources: Resources = {
  ids: {
    server: 1,
    site: 1,
    database: 1,
    worker: 1,
    "backup-configuration": 1,
    backup: 1,
    "site-webhook": 1,
    "webhook-delivery": 1,
    "notification-channel": 1,
    "storage-providers": 1,
    token: 1,
  },
  tokens: { read: "read", narrowed: "narrowed" },
  webhookSecret: "secret",
};

const server = { id: 1, name: "here", time_zone: "UTC", memory: null };

/** Returns the verdict on a response to a request for a server. */
const verdictOf = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
  planned: { method?: string; path?: string } = {},
) => {
  const fuzz = createFuzz({
    url: "http://a.test",
    token: "full",
    description,
    described: describedOperations(description),
    resources,
    secrets: ["planted"],
    send: async () => ({
      status,
      headers: new Headers({
        "content-type": "application/json",
        "x-content-type-options": "nosniff",
        ...headers,
      }),
      body: body === null ? "" : JSON.stringify(body),
    }),
  });
  return fuzz
    .attempt({
      method: "GET",
      path: "/api/server/{id}",
      login: "full",
      headers: [],
      body: null,
      ...planned,
    })
    .then(
      () => null,
      (error: Error) => error.message,
    );
};

test("accepts described responses", async () => {
  expect(await verdictOf(200, server)).toBeNull();
  expect(await verdictOf(404, { message: "Not found." })).toBeNull();
  expect(await verdictOf(304, null)).toBeNull();
  const created = { id: 7, token: `7|qd_${"x".repeat(48)}`, ...tokenFields };
  const planned = { method: "POST", path: "/api/tokens" };
  expect(await verdictOf(201, created, {}, planned)).toBeNull();
});

const tokenFields = {
  name: "x",
  abilities: ["*"],
  server_ids: null,
  expires_at: null,
  last_used_at: null,
  created_at: "2026-01-01T00:00:00.000000Z",
  is_current: false,
  from_environment: false,
};

test.each<[string, Parameters<typeof verdictOf>, string]>([
  ["an error of the service", [500, { message: "Server Error" }], "is an error of the service"],
  ["a status that is not described", [418, { message: "x" }], "does not know"],
  ["a field of another type", [200, { ...server, id: "1" }], "breaks its schema"],
  ["a field that is missing", [200, { id: 1 }], "breaks its schema"],
  ["a field that nobody described", [200, { ...server, root: "/" }], "breaks its schema"],
  ["an error of another form", [404, { error: "x" }], "breaks its schema"],
  ["another error beside the interface", [404, "x", {}, { path: "/nothing" }], "breaks its schema"],
  ["a page", [200, server, { "content-type": "text/html" }], "has the type text/html"],
  ["a body where none belongs", [304, server], "has a body"],
  ["a type to be guessed", [200, server, { "x-content-type-options": "" }], "another type"],
  ["a planted secret", [200, { ...server, name: "planted" }], "holds the secret planted"],
  ["one in a header", [200, server, { location: "/planted" }], "holds the secret planted"],
  ["a token", [200, { ...server, name: `qd_${"x".repeat(48)}` }], "holds the secret qd_"],
  ["a signing secret", [404, { message: `whsec_${"x".repeat(44)}` }], "holds the secret whsec_"],
])("detects %s, and reports the request as a curl command", async (_, answer, words) => {
  const verdict = await verdictOf(...answer);
  expect(verdict).toContain(words);
  expect(verdict).toContain("curl --path-as-is");
});
