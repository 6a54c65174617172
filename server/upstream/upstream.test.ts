import { request as requestHttp } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { operations } from "../../contract/operations.ts";
import { askRaw } from "../testing/ask-raw.ts";
import { createUpstreamPairs, sendJson } from "../testing/upstream-pair.ts";

const { startOther, startOurs, startPair, close } = createUpstreamPairs();
afterEach(close);

test("forwards a request unchanged: method, path, query, body, token", async () => {
  const { ours, seen } = await startPair(sendJson(201, { id: 1 }, { location: "/api/worker/1" }));
  const response = await fetch(`${ours}/api/site/3/worker?a=%20b&page=2`, {
    method: "POST",
    headers: { authorization: "Bearer secret", "content-type": "application/json" },
    body: '{"queue":"ü"}',
  });
  expect([response.status, response.headers.get("location"), await response.json()]).toEqual([
    201,
    "/api/worker/1",
    { id: 1 },
  ]);
  expect(seen).toMatchObject([
    {
      method: "POST",
      url: "/api/site/3/worker?a=%20b&page=2",
      headers: { authorization: "Bearer secret", "content-type": "application/json" },
      body: '{"queue":"ü"}',
    },
  ]);
});

test("passes the client's address and host to the upstream, and not the client's own claims", async () => {
  const { ours, other, seen } = await startPair(sendJson(200, {}));
  await fetch(`${ours}/api/servers`);
  await ask(`${ours}/api/servers`, claims);
  const host = new URL(ours).host;
  for (const { headers } of seen)
    expect(headers).toMatchObject({
      host: new URL(other).host,
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": host,
      "x-forwarded-proto": "http",
    });
  expect(JSON.stringify(seen)).not.toMatch(/203\.0\.113|evil|admin|PATCH/);
});

test("passes the public address to the upstream behind a TLS proxy", async () => {
  const { other, seen } = await startPair(sendJson(200, {}));
  const ours = await startOurs(other, { publicUrl: "https://ops.example.com" });
  await ask(`${ours}/api/servers`, { "x-forwarded-proto": "http" });
  expect(seen[0]?.headers).toMatchObject({
    "x-forwarded-host": "ops.example.com",
    "x-forwarded-proto": "https",
  });
});

/** Headers by which a client could claim another address or host. */
const claims = {
  "x-forwarded-for": "203.0.113.7",
  "x-forwarded-host": "evil.example",
  "x-forwarded-proto": "evil",
  "x-forwarded-port": "evil",
  "x-forwarded-prefix": "/admin",
  "x-forwarded-user": "admin",
  X_Forwarded_For: "203.0.113.7",
  forwarded: "for=203.0.113.7;host=evil.example",
  "x-real-ip": "203.0.113.7",
  X_Real_IP: "203.0.113.7",
  "true-client-ip": "203.0.113.7",
  "x-original-url": "/admin",
  "x-rewrite-url": "/admin",
  "x-http-method-override": "PATCH",
};

/** Sends a request with headers that `fetch` does not allow. */
const ask = (url: string, headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const request = requestHttp(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once("error", reject);
    request.end();
  });

test("does not forward cookies and hop-by-hop headers", async () => {
  const { ours, seen } = await startPair(sendJson(200, {}));
  await ask(`${ours}/api/servers`, {
    cookie: "session=of-this-host",
    origin: "http://localhost:4000",
    connection: "keep-alive, x-mine, x-forwarded-for, host",
    "keep-alive": "timeout=5",
    te: "trailers",
    "proxy-authorization": "Basic abc",
    "x-mine": "1",
    "x-kept": "2",
  });
  const { headers } = seen[0] ?? { headers: {} };
  for (const name of ["cookie", "origin", "te", "proxy-authorization", "x-mine"])
    expect(headers, name).not.toHaveProperty(name);
  expect(headers).toMatchObject({ "x-kept": "2", "x-forwarded-for": "127.0.0.1" });
});

test("drops response headers for a host, and an error response is no page of the dashboard", async () => {
  const { ours } = await startPair((_request, response) => {
    response.writeHead(404, {
      "content-type": "text/html",
      "set-cookie": "a=b",
      "strict-transport-security": "max-age=1",
      "alt-svc": 'h3=":443"',
      "x-request-id": "r1",
    });
    response.end("<script>alert(1)</script>");
  });
  const { headers } = await fetch(`${ours}/api/x`);
  for (const name of ["set-cookie", "strict-transport-security", "alt-svc"])
    expect(headers.has(name), name).toBe(false);
  expect(headers.get("x-request-id")).toBe("r1");
  expect(headers.get("content-security-policy")).toContain("sandbox");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

test.each([401, 404, 409, 422, 500, 503])("returns a %s unchanged", async (status) => {
  const body = { message: "As the service says.", errors: { name: ["No."] } };
  const { ours } = await startPair(sendJson(status, body, { "retry-after": "7" }));
  const response = await fetch(`${ours}/api/servers`);
  expect([response.status, response.headers.get("retry-after")]).toEqual([status, "7"]);
  expect(await response.json()).toEqual(body);
});

test("does not send a response again that the browser has cached", async () => {
  const { ours } = await startPair((request, response) => {
    const isKnown = request.headers["if-none-match"] === '"1"';
    response.writeHead(isKnown ? 304 : 200, { etag: '"1"' });
    response.end(isKnown ? undefined : "{}");
  });
  const first = await fetch(`${ours}/api/servers`);
  const second = await fetch(`${ours}/api/servers`, {
    headers: { "if-none-match": first.headers.get("etag") ?? "" },
  });
  expect([first.status, second.status, await second.text()]).toEqual([200, 304, ""]);
});

test("forwards a request without a body without one", async () => {
  const { ours, seen } = await startPair(
    (_request, response) => void response.writeHead(204).end(),
  );
  for (const method of ["POST", "PUT", "DELETE"])
    expect((await fetch(`${ours}/api/worker/7/start`, { method })).status).toBe(204);
  for (const { headers } of seen) expect(headers).not.toHaveProperty("transfer-encoding");
});

test("leaves redirects to the browser", async () => {
  const { ours, seen } = await startPair((_request, response) =>
    response.writeHead(302, { location: "https://login.example.com/" }).end(),
  );
  const response = await fetch(`${ours}/api/servers`, { redirect: "manual" });
  expect([response.status, response.headers.get("location"), seen.length]).toEqual([
    302,
    "https://login.example.com/",
    1,
  ]);
});

test("returns a compressed response completely", async () => {
  const content = JSON.stringify({ content: "x".repeat(10_000) });
  const { ours } = await startPair((_request, response) => {
    const body = gzipSync(content);
    response.writeHead(200, { "content-encoding": "gzip", "content-length": body.length });
    response.end(body);
  });
  expect(await (await fetch(`${ours}/api/servers`)).text()).toBe(content);
});

test("keeps the path of the base address in front, and reaches nothing outside of the interface", async () => {
  const { ours, seen } = await startPair(sendJson(200, {}), "/base");
  expect((await ask(`${ours}/api/servers?page=1&path=..%2f`, {})) ?? 0).toBe(200);
  expect(await ask(`${ours}/openapi.json`, {})).toBe(200);
  expect(await ask(`${ours}/metrics`, {})).toBe(404);
  expect(seen.map(({ url }) => url)).toEqual([
    "/base/api/servers?page=1&path=..%2f",
    "/base/openapi.json",
  ]);
});

test("forwards every operation of the interface", async () => {
  const { ours, seen } = await startPair(sendJson(200, {}));
  const rows = Object.values(operations);
  for (const { method, path } of rows)
    expect((await fetch(ours + path.replace(/\{\w+\}/, "7"), { method })).status).toBe(200);
  expect((await fetch(`${ours}/api/servers`, { method: "HEAD" })).status).toBe(200);
  expect(seen).toHaveLength(rows.length + 1);
});

test.each([
  "/api/..%2f..%2fadmin",
  "/api/..%2F..%2Fadmin",
  "/api/..;/admin",
  "/api/.;/admin",
  "/api/servers;jsessionid=1",
  "/api/../admin",
  "/api/%2e%2e/%2e%2e/admin",
  "/api/%252e%252e%252fadmin",
  "/api/..%5cadmin",
  "/api/..%255cadmin",
  "/api/..\\admin",
  "/api\\..\\admin",
  "/api/servers%2f..%2fadmin",
  "/api/servers%00",
  "/api/servers%0d%0aX-Evil:1",
  "/api/servers.json",
  "/api/servers/",
  "/api//servers",
  "//evil.example/api/servers",
  "/api/%73ervers",
  "/api/sërvers",
  "/api/",
  "/apiadmin",
  "/%61pi/servers",
  "http://evil.example/api/servers",
  "https://evil.example/api/servers",
  "ftp://evil.example/api/servers",
  "*",
  "api/servers",
])("refuses the target %s itself", async (target) => {
  const { ours, seen } = await startPair(sendJson(200, {}));
  const { status, headers } = await askRaw(ours, `GET ${target} HTTP/1.1`);
  expect(status, String(status)).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(seen).toEqual([]);
});

test.each(["TRACE", "OPTIONS", "PATCH", "PROPFIND", "PURGE", "LINK", "QUERY"])(
  "refuses %s itself, and lists the allowed methods",
  async (method) => {
    const { ours, seen } = await startPair(sendJson(200, {}));
    const { status, headers } = await askRaw(ours, `${method} /api/servers HTTP/1.1`);
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD, POST, PUT, DELETE"]);
    expect((await askRaw(ours, `${method} /openapi.json HTTP/1.1`)).status).toBe(404);
    expect(seen).toEqual([]);
  },
);

test.each([
  ["CONNECT evil.example:443 HTTP/1.1", 405],
  ["CONNECT 127.0.0.1:80 HTTP/1.1", 405],
  ["track /api/servers HTTP/1.1", 400],
  ["TRACK /api/servers HTTP/1.1", 400],
  ["GET /api/servers HTTP/9.9", 400],
])("refuses %s itself with %i", async (line, expected) => {
  const { ours, seen } = await startPair(sendJson(200, {}));
  const { status, body } = await askRaw(ours, line);
  expect([status, Object.keys(JSON.parse(body))]).toEqual([expected, ["message"]]);
  expect(seen).toEqual([]);
});

test("streams a long response: the first part arrives before the rest is sent", async () => {
  let finish = () => {};
  const other = await startOther((_request, response) => {
    response.write("first");
    finish = () => response.end(" last");
  });
  const ours = await startOurs(other, { firstByteMs: 3000 });
  const response = await fetch(`${ours}/api/backup/1/file`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe("first");
  // Longer than the timeout of the first byte, because a download may take any time.
  await wait(3500);
  finish();
  expect((await reader?.read())?.value).toBe(" last");
});

test("serves the dashboard beside it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-upstream-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "index.html"), "<title>Quarterdeck</title>");
  const ours = await startOurs("http://127.0.0.1:1", { dashboardFolder: folder });
  const page = await fetch(`${ours}/sites/3/workers`, { headers: { accept: "text/html" } });
  expect([page.status, await page.text()]).toEqual([200, "<title>Quarterdeck</title>"]);
  // Not the page, which Prometheus would try to parse as metrics.
  expect((await fetch(`${ours}/metrics`)).status).toBe(404);
});
