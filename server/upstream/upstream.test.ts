import { request as requestHttp } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { createUpstreamPairs, sendJson } from "../testing/upstream-pair.ts";

const { startOther, startOurs, startPair, close } = createUpstreamPairs();
afterEach(close);

test("a request arrives as it was sent: method, path, query, body, token", async () => {
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

test("the other service learns who asked, where, and through whom", async () => {
  const { ours, other, seen } = await startPair(sendJson(200, {}));
  await fetch(`${ours}/api/servers`);
  await fetch(`${ours}/api/servers`, {
    headers: {
      "x-forwarded-for": "203.0.113.7",
      "x-forwarded-host": "ops.example.com",
      "x-forwarded-proto": "https",
    },
  });
  const host = new URL(ours).host;
  expect(seen[0]?.headers).toMatchObject({
    host: new URL(other).host,
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-host": host,
    "x-forwarded-proto": "http",
  });
  expect(seen[1]?.headers).toMatchObject({
    "x-forwarded-for": "203.0.113.7, 127.0.0.1",
    "x-forwarded-host": "ops.example.com",
    "x-forwarded-proto": "https",
  });
});

/** With headers that `fetch` does not let anybody set. */
const ask = (url: string, headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const request = requestHttp(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once("error", reject);
    request.end();
  });

test("cookies and what belongs to one connection are not passed on", async () => {
  const { ours, seen } = await startPair(sendJson(200, {}));
  await ask(`${ours}/api/servers`, {
    cookie: "session=of-this-host",
    origin: "http://localhost:4000",
    connection: "keep-alive, x-mine, x-forwarded-for",
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

test("what speaks for a host does not come back, and an answer is no page of ours", async () => {
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

test.each([401, 404, 409, 422, 500, 503])("a %s is passed back as it is", async (status) => {
  const body = { message: "As the service says.", errors: { name: ["No."] } };
  const { ours } = await startPair(sendJson(status, body, { "retry-after": "7" }));
  const response = await fetch(`${ours}/api/servers`);
  expect([response.status, response.headers.get("retry-after")]).toEqual([status, "7"]);
  expect(await response.json()).toEqual(body);
});

test("an answer that the browser has already is not sent again", async () => {
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

test("a request without a body has none on the other side either", async () => {
  const { ours, seen } = await startPair(
    (_request, response) => void response.writeHead(204).end(),
  );
  for (const method of ["POST", "PUT", "DELETE"])
    expect((await fetch(`${ours}/api/worker/7/start`, { method })).status).toBe(204);
  for (const { headers } of seen) expect(headers).not.toHaveProperty("transfer-encoding");
});

test("a redirect is the browser's to follow", async () => {
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

test("a compressed answer arrives whole", async () => {
  const content = JSON.stringify({ content: "x".repeat(10_000) });
  const { ours } = await startPair((_request, response) => {
    const body = gzipSync(content);
    response.writeHead(200, { "content-encoding": "gzip", "content-length": body.length });
    response.end(body);
  });
  expect(await (await fetch(`${ours}/api/servers`)).text()).toBe(content);
});

test("the path of the base address stays in front, and nothing beside the interface is reached", async () => {
  const { ours, seen } = await startPair(sendJson(200, {}), "/base");
  expect((await ask(`${ours}/api/servers?page=1`, {})) ?? 0).toBe(200);
  expect(await ask(`${ours}/openapi.json`, {})).toBe(200);
  expect(await ask(`${ours}/api/%2e%2e/%2e%2e/admin`, {})).toBe(404);
  expect(await ask(`${ours}/metrics`, {})).toBe(404);
  expect(seen.map(({ url }) => url)).toEqual(["/base/api/servers?page=1", "/base/openapi.json"]);
});

test("a long answer flows: what was sent is there before the rest is", async () => {
  let finish = () => {};
  const other = await startOther((_request, response) => {
    response.write("first");
    finish = () => response.end(" last");
  });
  // Longer than the first byte may take: a download lasts as long as it lasts.
  const ours = await startOurs(other, { firstByteMs: 200 });
  const response = await fetch(`${ours}/api/backup/1/file`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe("first");
  await wait(300);
  finish();
  expect((await reader?.read())?.value).toBe(" last");
});

test("the dashboard is served beside it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-upstream-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "index.html"), "<title>Quarterdeck</title>");
  const ours = await startOurs("http://127.0.0.1:1", { dashboardFolder: folder });
  const page = await fetch(`${ours}/sites/3/workers`, { headers: { accept: "text/html" } });
  expect([page.status, await page.text()]).toEqual([200, "<title>Quarterdeck</title>"]);
});
