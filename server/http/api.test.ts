import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../contract/operations.ts";
import { servedOperations } from "../../contract/served-operations.ts";
import { Validator } from "@seriousme/openapi-schema-validator";
import { eventTypes } from "../../contract/events.ts";
import { administer, createTestService, type TestService } from "../testing/service.ts";
import { soon } from "../testing/soon.ts";
import { workerBody } from "../testing/worker-body.ts";

let service: TestService;
beforeAll(async () => {
  service = await createTestService();
});
afterAll(() => service.close());

const send = (path: string, init: RequestInit) =>
  service.app.fetch(new Request(`http://quarterdeck.test${path}`, init));
const withToken = { Authorization: "Bearer a token for tests, 32 characters at least" };

describe("authentication", () => {
  test.each([
    [undefined, {}],
    ["Bearer", {}],
    ["Basic dXNlcjpwYXNz", {}],
    // Only a response to a presented token has a code.
    ["Bearer nonsense", { code: "token_unknown" }],
    ["Bearer 1|qd_nonsense", { code: "token_unknown" }],
    ["Bearer 99999999999|x", { code: "token_unknown" }],
  ])("refuses %s", async (authorization, why) => {
    const headers = authorization === undefined ? {} : { Authorization: authorization };
    const response = await send("/api/site/1/workers", { headers });
    expect(response.status).toBe(401);
    expect(response.headers.get("WWW-Authenticate")).toBe("Bearer");
    expect(await response.json()).toEqual({ message: "Unauthenticated.", ...why });
  });

  test("without a token even an unknown path is 401", async () => {
    expect((await send("/api/nothing", {})).status).toBe(401);
  });

  test("every response has a request id", async () => {
    for (const path of ["/api/site/1/workers", "/api/nothing", "/healthz"]) {
      const response = await service.call("GET", path);
      expect(response.headers.get("X-Request-Id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe("a missing object", () => {
  test.each([
    "/api/nothing",
    "/api/site/99/workers",
    "/api/worker/99",
    "/api/worker/0",
    "/api/worker/abc",
    "/api/worker/1.5",
    "/api/worker/99999999999999999999",
    "/api/worker/2147483648",
    "/api/server/9",
  ])("GET %s", async (path) => {
    const { status, body } = await service.json("GET", path);
    expect({ status, body }).toEqual({ status: 404, body: { message: "Not found." } });
  });

  test.each(["GET", "POST"])("%s outside of the interface is a JSON error, too", async (method) => {
    const response = await service.call(method, "/nothing", undefined);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ message: "Not found." });
  });

  test.each(["/api/servers/", "/api/worker/1/", "/api/worker/1/start/"])(
    "%s is an unknown path, whatever the method",
    async (path) => {
      for (const method of ["GET", "POST", "PATCH"])
        expect((await service.call(method, path)).status).toBe(404);
    },
  );

  test("a method that a path does not have is refused with the allowed ones", async () => {
    const response = await service.call("PATCH", "/api/worker/1");
    expect(response.status).toBe(405);
    expect(response.headers.get("Allow")).toBe("GET, PUT, DELETE, HEAD");
  });

  test("a preflight lists the allowed methods, and no other", async () => {
    const response = await service.call("OPTIONS", "/api/worker/1");
    const named = response.headers.get("Access-Control-Allow-Methods")?.split(",");
    const served = Object.values(servedOperations).map(({ method }) => method);
    expect(new Set(named)).toEqual(new Set(["HEAD", ...served]));
  });
});

describe("bodies", () => {
  const post = (body: string, type = "application/json") =>
    send("/api/site/1/worker", {
      method: "POST",
      body,
      headers: { ...withToken, "Content-Type": type },
    });

  test.each([
    ["{", "application/json", 400, "The request body is not valid JSON."],
    ["[]", "application/json", 400, "The request body must be a JSON object."],
    ["7", "application/json", 400, "The request body must be a JSON object."],
    ["a=b", "application/x-www-form-urlencoded", 415, "The request body must be JSON"],
    [`"${"x".repeat(1024 * 1024)}"`, "application/json", 413, "larger than 1 MiB"],
  ])("%.20s as %s is %i", async (body, type, status, message) => {
    const response = await post(body, type);
    expect(response.status).toBe(status);
    const answer: { message: string } = await response.json();
    expect(answer.message).toContain(message);
  });

  test("refuses invalid UTF-8 instead of storing other characters", async () => {
    const body = Buffer.from('{ "status": "finished", "message": "café" }', "latin1");
    const headers = { ...withToken, "Content-Type": "application/json" };
    const response = await send("/api/site/1/deployment", { method: "POST", body, headers });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ message: "The request body is not valid UTF-8." });
  });

  test("refuses a compressed body as such, and accepts the content encoding identity", async () => {
    const deploy = (body: BodyInit, coding: string) =>
      send("/api/site/1/deployment", {
        method: "POST",
        body,
        headers: {
          ...withToken,
          "Content-Type": "application/json",
          "Content-Encoding": coding,
        },
      });
    const response = await deploy(gzipSync('{ "status": "finished" }'), "gzip");
    expect(response.status).toBe(415);
    expect(await response.json()).toEqual({
      message: "The request body must not be compressed: send it without Content-Encoding.",
    });
    expect((await deploy('{ "status": 7 }', "identity")).status).toBe(422);
  });

  test("a client that disconnects is not reported as a database error", async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) =>
        controller.error(Object.assign(new Error("aborted"), { code: "ECONNRESET" })),
    });
    const headers = { ...withToken, "Content-Type": "application/json" };
    const request: RequestInit & { duplex: "half" } = {
      method: "POST",
      body,
      duplex: "half",
      headers,
    };
    expect((await send("/api/site/1/worker", request)).status).toBe(400);
  });

  test.each([
    ["no length", {}],
    ["too small a length", { "Content-Length": "5" }],
    ["no number for a length", { "Content-Length": "many" }],
  ])("an endless body, with %s, is cut off at 1 MiB and canceled", async (_, length) => {
    let isCanceled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(0x20)),
      cancel: () => void (isCanceled = true),
    });
    const request: RequestInit & { duplex: "half" } = {
      method: "POST",
      body: endless,
      duplex: "half",
      headers: { ...withToken, "Content-Type": "application/json", ...length },
    };
    const response = await send("/api/site/1/worker", request);
    expect(response.status).toBe(413);
    expect(isCanceled).toBe(true);
  });

  test("a missing body is answered with the missing fields", async () => {
    const { status, body } = await service.json<{ errors: object }>("POST", "/api/site/1/worker");
    const { startsecs: _startsecs, stopwaitsecs: _stopwaitsecs, ...required } = workerBody;
    expect(status).toBe(422);
    expect(Object.keys(body.errors)).toEqual(Object.keys(required));
  });

  test("a missing object is reported before an invalid body", async () => {
    expect((await service.call("POST", "/api/site/9/worker", {})).status).toBe(404);
  });
});

describe("responses", () => {
  test("a GET with the current ETag gets 304 and no body", async () => {
    const first = await service.call("GET", "/api/servers");
    const tag = first.headers.get("ETag") ?? "";
    const again = await send("/api/servers", { headers: { ...withToken, "If-None-Match": tag } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
    const other = await send("/api/servers", { headers: { ...withToken, "If-None-Match": '"x"' } });
    expect(other.status).toBe(200);
  });

  test("responses of reads are compressed if the client accepts that, and their ETag is recognized", async () => {
    for (let count = 0; count < 3; count++)
      expect((await service.call("POST", "/api/site/1/worker", workerBody)).status).toBe(201);
    const read = (headers: object) =>
      send("/api/site/1/workers", { headers: { ...withToken, ...headers } });
    const [plain, packed] = [await read({}), await read({ "Accept-Encoding": "gzip, br" })];
    expect(plain.headers.get("Content-Encoding")).toBeNull();
    expect(packed.headers.get("Content-Encoding")).toBe("gzip");
    expect(packed.headers.get("Vary")).toContain("Accept-Encoding");
    const text = gunzipSync(await packed.arrayBuffer()).toString();
    expect(JSON.parse(text)).toMatchObject({ data: [{}, {}, {}] });
    // Repeated, because the workers are still starting.
    const readTwice = async () => {
      const tag = (await read({ "Accept-Encoding": "gzip" })).headers.get("ETag") ?? "";
      const again = await read({ "Accept-Encoding": "gzip", "If-None-Match": tag });
      const isSame = again.headers.get("ETag") === tag;
      return { status: again.status, isSame, vary: again.headers.get("Vary") };
    };
    // RFC 9110, 15.4.5: a 304 has the headers by which caches choose the response that it confirms.
    const confirmed = { status: 304, isSame: true, vary: packed.headers.get("Vary") };
    await expect.poll(readTwice).toEqual(confirmed);
  });

  test("small responses, and those of writes, which may contain a secret, are not compressed", async () => {
    const headers = { ...withToken, "Accept-Encoding": "gzip", "Content-Type": "application/json" };
    const body = JSON.stringify({ ...workerBody, queue: "q".repeat(120) });
    for (const response of [
      await send("/api/site/1/worker", { method: "POST", headers, body }),
      await send("/api/site/1", { headers }),
    ]) {
      expect(response.headers.get("Content-Encoding")).toBeNull();
      expect(await response.json()).toHaveProperty("id");
    }
  });

  test("HEAD is answered like GET, without a body", async () => {
    const response = await service.call("HEAD", "/api/servers");
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("");
    const got = await service.call("GET", "/api/servers");
    for (const name of ["ETag", "Content-Length", "Cache-Control", "Content-Type"])
      expect({ [name]: response.headers.get(name) }).toEqual({ [name]: got.headers.get(name) });
    const headers = { ...withToken, "If-None-Match": got.headers.get("ETag") ?? "" };
    expect((await send("/api/servers", { method: "HEAD", headers })).status).toBe(304);
  });

  test("links are absolute, and derived from the request", async () => {
    const { body } = await service.json<{ links: { first: string }; meta: { path: string } }>(
      "GET",
      "/api/servers?page=1&per_page=5",
    );
    expect(body.meta.path).toBe("http://quarterdeck.test/api/servers");
    expect(body.links.first).toBe("http://quarterdeck.test/api/servers?page=1&per_page=5");
  });
});

test("the description is valid OpenAPI 3.1 and contains all operations", async () => {
  const response = await send("/openapi.json", {});
  const description: {
    openapi: string;
    paths: Record<string, object>;
    webhooks: Record<string, object>;
  } = await response.json();
  expect(description.openapi).toMatch(/^3\.1\./);
  expect(await new Validator().validate(description)).toMatchObject({ valid: true });
  const paths = new Set(Object.values(operations).map(({ path }) => path));
  expect(new Set(Object.keys(description.paths))).toEqual(paths);
  expect(Object.keys(description.webhooks)).toEqual([...eventTypes]);
  for (const path of Object.keys(description.paths)) {
    const served = await service.call("GET", path.replace(/\{\w+\}/g, "1"));
    expect(served.status, path).not.toBe(401);
  }
});

test("a stopping service refuses with 503 and Retry-After", async () => {
  service.app.refuse("The service is shutting down.");
  try {
    const response = await service.call("GET", "/api/servers");
    expect(response.status).toBe(503);
    expect(response.headers.get("Retry-After")).toBe("5");
    expect((await send("/readyz", {})).status).toBe(503);
    expect((await send("/healthz", {})).status).toBe(200);
  } finally {
    service.app.refuse(null);
  }
  expect((await send("/readyz", {})).status).toBe(200);
});

test("a database that has become a standby refuses writes with a message, and the service isn't ready", async () => {
  const { database } = service.connection;
  const setReadOnly = async (value: string) => {
    await administer(`alter database ${database} set default_transaction_read_only = ${value}`);
    await administer(
      `select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = '${database}'`,
    );
  };
  await setReadOnly("on");
  try {
    const refused = await soon(async () => {
      const response = await service.call("POST", "/api/site/1/worker", workerBody);
      const { message }: { message: string } = await response.json();
      expect(message).toMatch(/read-only/);
      return response;
    });
    expect(refused.status).toBe(503);
    const ready = await send("/readyz", {});
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ message: expect.stringMatching(/read-only/) });
  } finally {
    await setReadOnly("default");
  }
  await soon(async () => expect((await send("/readyz", {})).status).toBe(200));
});
