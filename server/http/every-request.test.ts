import type { Server } from "node:http";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askRaw } from "../testing/ask-raw.ts";
import {
  createResources,
  oneOfEach,
  pathTo,
  plantedSecrets,
  type Resources,
} from "../testing/resources.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { createAllowedHosts } from "./allowed-hosts.ts";
import { listen } from "./listen.ts";
import { portOf } from "../testing/port-of.ts";

let folder: string;
let service: TestService;
let resources: Resources;
let server: Server;
let port: number;
/** URL of the service on a real socket, so that nothing changes the bytes of a request. */
let url: string;
const token = () => `Authorization: Bearer ${service.token}`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-dashboard-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), "<title>Quarterdeck</title>");
  await writeFile(join(folder, "assets/index.js"), "start()");
  service = await createTestService({
    inventory: oneOfEach,
    secrets: plantedSecrets,
    dashboardFolder: folder,
    isAllowedHost: createAllowedHosts({
      listensOn: "quarterdeck.test",
      publicUrl: "https://ops.example.com",
      machineName: "web-1",
    }),
  });
  resources = await createResources(service, service.folder);
  server = await listen(service.app.fetch, 0, "127.0.0.1");
  // The server listens on a port.
  port = portOf(server);
  url = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await service.close();
  await rm(folder, { recursive: true });
});

describe("no response can be interpreted as another type than its own", () => {
  const json = "Content-Type: application/json";
  test.each<[number, string, string, string[], string]>([
    [200, "a list", "GET /api/servers", [], ""],
    [200, "HEAD", "HEAD /api/servers", [], ""],
    [304, "what is known already", "GET /api/servers", ["If-None-Match: *"], ""],
    [201, "what was made", "POST /api/tokens", [json], '{"name":"x","abilities":["read"]}'],
    [204, "no content", "POST /api/worker/{id}/start", [], ""],
    [200, "a download", "GET /api/backup/{id}/file", [], ""],
    [400, "malformed JSON", "POST /api/tokens", [json], "{"],
    [401, "no login", "GET /api/servers", ["Authorization: Bearer x"], ""],
    [404, "nothing there", "GET /api/worker/99", [], ""],
    [404, "no such operation", "GET /api/nothing", [], ""],
    [405, "another method", "PATCH /api/servers", [], ""],
    [405, "TRACE", "TRACE /api/servers", [], ""],
    [415, "no JSON", "POST /api/tokens", ["Content-Type: text/plain"], "x"],
    [422, "fields that do not fit", "POST /api/tokens", [json], "{}"],
    [204, "a preflight", "OPTIONS /api/servers", ["Origin: http://localhost"], ""],
    [200, "health", "GET /healthz", [], ""],
    [200, "readiness", "GET /readyz", [], ""],
    [200, "metrics", "GET /metrics", [], ""],
    [200, "the description", "GET /openapi.json", [], ""],
    [200, "the dashboard", "GET /", [], ""],
    [200, "a page of it", "GET /servers/1/backups", ["Accept: text/html"], ""],
    [200, "an asset of it", "GET /assets/index.js", [], ""],
    [404, "an asset that is not there", "GET /assets/x.js", [], ""],
    [404, "JSON beside the interface", "GET /nothing", ["Accept: application/json"], ""],
    [404, "another method beside it", "POST /nothing", [], ""],
    [421, "another host", "GET /", ["Host: evil.example"], ""],
  ])("%i: %s", async (status, _, line, more, body) => {
    const [method, path = ""] = line.split(" ");
    const target = path.includes("{") ? pathTo(path, resources.ids) : path;
    const length = body === "" ? [] : [`Content-Length: ${body.length}`];
    const own = [`Host: 127.0.0.1:${port}`, token()].filter(
      (header) => !more.some((other) => other.split(":")[0] === header.split(":")[0]),
    );
    const answer = await askRaw(
      url,
      `${method} ${target} HTTP/1.1`,
      [...own, ...more, ...length],
      body,
    );
    expect([answer.status, answer.headers.get("x-content-type-options")]).toEqual([
      status,
      "nosniff",
    ]);
  });

  test.each([
    [400, "GET / HTTP/9.9", ["Host: localhost"]],
    [400, "GET /api\\servers HTTP/1.1", ["Host: localhost"]],
    [400, "nonsense", []],
    [400, "GET / HTTP/1.1", ["Host: localhost", "Content-Length: x"]],
    [
      400,
      "POST / HTTP/1.1",
      ["Host: localhost", "Content-Length: 1", "Transfer-Encoding: chunked"],
    ],
    [405, "CONNECT evil.example:443 HTTP/1.1", ["Host: localhost"]],
    [417, "GET / HTTP/1.1", ["Host: localhost", "Expect: a cookie"]],
    [431, "GET / HTTP/1.1", ["Host: localhost", `X: ${"x".repeat(20_000)}`]],
  ])("%i before the request is parsed: %s", async (status, line, headers) => {
    const answer = await askRaw(url, line, headers);
    expect([answer.status, answer.headers.get("x-content-type-options")]).toEqual([
      status,
      "nosniff",
    ]);
    expect(Object.keys(JSON.parse(answer.body))).toEqual(["message"]);
  });

  test("431 names the limit that the request exceeds", async () => {
    const { body } = await askRaw(url, `GET /api/servers?search=${"x".repeat(20_000)} HTTP/1.1`);
    expect(JSON.parse(body)).toEqual({
      message: "The URL and headers of a request must not be larger than 16 KiB.",
    });
  });

  test("503: a stopping service", async () => {
    service.app.refuse("The service is shutting down.");
    const answers = [
      await askRaw(url, "GET /readyz HTTP/1.1"),
      await askRaw(url, "GET /api/servers HTTP/1.1"),
    ];
    service.app.refuse(null);
    for (const { status, headers } of answers)
      expect([status, headers.get("x-content-type-options")]).toEqual([503, "nosniff"]);
  });
});

describe("the host of a request", () => {
  const paths = [
    "/",
    "/assets/index.js",
    "/api/servers",
    "/metrics",
    "/openapi.json",
    "/healthz",
    "/readyz",
  ];

  test.each([
    "localhost",
    "LOCALHOST:1",
    "localhost.",
    "deck.localhost",
    "127.0.0.2",
    "[::1]:4000",
    "quarterdeck.test",
    "ops.example.com",
    "Ops.Example.Com:8443",
  ])("%s is allowed", async (host) => {
    for (const path of paths)
      expect((await askRaw(url, `GET ${path} HTTP/1.1`, [`Host: ${host}`, token()])).status).toBe(
        200,
      );
  });

  test.each([
    "evil.example",
    "evil.example:4000",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "web-1",
    "192.0.2.7",
  ])("%s is refused for every path, and the message says what to configure", async (host) => {
    for (const path of [...paths, "/api/nothing", "/nothing"]) {
      const headers = [`Host: ${host}`, token(), "Origin: http://evil.example"];
      const answer = await askRaw(url, `GET ${path} HTTP/1.1`, headers);
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
        421,
        null,
      ]);
      expect(answer.headers.get("x-request-id")).not.toBeNull();
      const { message }: { message: string } = JSON.parse(answer.body);
      expect(message).toContain(`“${host}”`);
      expect(message).toContain("QUARTERDECK_PUBLIC_URL");
    }
    const preflight = await askRaw(url, "OPTIONS /api/servers HTTP/1.1", [`Host: ${host}`]);
    expect(preflight.status).toBe(421);
  });

  test("is not determined by X-Forwarded-Host", async () => {
    const forwarded = ["X-Forwarded-Host: localhost", "Forwarded: host=localhost"];
    const headers = ["Host: evil.example", ...forwarded];
    expect((await askRaw(url, "GET /healthz HTTP/1.1", headers)).status).toBe(421);
    const own = ["Host: localhost:7", "X-Forwarded-Host: evil.example", token()];
    const { body } = await askRaw(url, "GET /api/servers HTTP/1.1", own);
    expect(body).toContain("http://localhost:7/api/servers?page=1");
    expect(body).not.toContain("evil");
  });

  test("must be allowed in an absolute request target and in the header beside it", async () => {
    const ask = (target: string, host: string) =>
      askRaw(url, `GET ${target} HTTP/1.1`, [`Host: ${host}`, token()]);
    const unknown = { status: 421, body: expect.stringContaining("“evil.example”") };
    expect((await ask("http://localhost/api/servers", "localhost")).status).toBe(200);
    expect(await ask("http://evil.example/api/servers", "localhost")).toMatchObject(unknown);
    expect(await ask("http://localhost/api/servers", "evil.example")).toMatchObject(unknown);
    expect(await ask("http://localhost@evil.example/api/servers", "localhost")).toMatchObject(
      unknown,
    );
  });

  test.each([
    ["two hosts", ["Host: localhost", "Host: evil.example"]],
    ["the same host twice", ["Host: localhost", "host: localhost"]],
    ["no host", []],
    ["an empty host", ["Host:"]],
    ["somebody at a host", ["Host: localhost@evil.example"]],
    ["a path in it", ["Host: localhost/@evil.example"]],
    ["a list", ["Host: localhost, evil.example"]],
    ["no port that there is", ["Host: localhost:99999"]],
  ])("%s is refused", async (_, headers) => {
    const answer = await askRaw(url, "GET /healthz HTTP/1.1", headers);
    expect([400, 421]).toContain(answer.status);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("is optional before HTTP/1.1", async () => {
    expect((await askRaw(url, "GET /healthz HTTP/1.0", [])).status).toBe(200);
    const { body } = await askRaw(url, "GET /api/servers HTTP/1.0", [token()]);
    expect(body).toContain("http://127.0.0.1/api/servers?page=1");
    expect((await askRaw(url, "GET /healthz HTTP/1.0", ["Host: evil.example"])).status).toBe(421);
  });

  test("without a socket is taken from the URL, and from a header beside it", async () => {
    const ask = async (address: string, headers: Record<string, string> = {}) =>
      (await service.app.fetch(new Request(address, { headers }))).status;
    expect(await ask("http://quarterdeck.test/healthz")).toBe(200);
    expect(await ask("http://evil.example/healthz")).toBe(421);
    expect(await ask("http://quarterdeck.test/healthz", { Host: "evil.example" })).toBe(421);
  });
});
