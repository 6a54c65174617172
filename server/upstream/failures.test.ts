import type { ServerResponse } from "node:http";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { soon } from "../testing/soon.ts";
import { createUpstreamPairs, sendJson, silent, thisMachine } from "../testing/upstream-pair.ts";
import { createForwarder } from "./forward.ts";
import { currentDispatcher } from "./no-time-limit.ts";
import { createUpstreamApp } from "./upstream.ts";

const { startOther, startOurs, startPair, serveOn, close, closeFirst } = createUpstreamPairs();
afterEach(close);

test("a client that disconnects aborts the upstream request, before the response and during it", async () => {
  for (const begins of [false, true]) {
    const arrived = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<string>();
    const other = await startOther((_request, response) => {
      if (begins) response.write("first");
      response.once("close", () => ended.resolve(response.writableEnded ? "answered" : "cut off"));
      arrived.resolve();
    });
    const ours = await startOurs(other);
    const leaving = new AbortController();
    const asked = fetch(`${ours}/api/backup/1/file`, { signal: leaving.signal }).catch(() => null);
    await arrived.promise;
    if (begins) expect(await asked).not.toBeNull();
    leaving.abort();
    expect(await ended.promise).toBe("cut off");
  }
});

test("an unavailable upstream is reported with Retry-After", async () => {
  const other = await startOther(() => {});
  const ours = await startOurs(other);
  await closeFirst();
  const response = await fetch(`${ours}/api/servers`);
  expect([response.status, response.headers.get("retry-after")]).toEqual([502, "5"]);
  expect(await response.json()).toEqual({
    message: "The service behind this dashboard refused the connection.",
  });
  const ready = await fetch(`${ours}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    {
      status: "unavailable",
      message: "The service behind this dashboard refused the connection.",
    },
  ]);
  expect((await fetch(`${ours}/healthz`)).status).toBe(200);
});

test("an upstream that breaks off or never responds is reported, too", async () => {
  const broken = await startOurs(await startOther((request) => request.socket.destroy()));
  const answer = await fetch(`${broken}/api/servers`);
  expect([answer.status, await answer.json()]).toEqual([
    502,
    {
      message: "The service behind this dashboard closed the connection without a response.",
    },
  ]);
  const hanging = await startOurs(await startOther(() => {}), { firstByteMs: 50 });
  const late = await fetch(`${hanging}/api/worker/7/start`, { method: "POST" });
  expect([late.status, late.headers.get("retry-after"), await late.json()]).toEqual([
    504,
    "5",
    {
      message:
        "The service behind this dashboard timed out after 0.05 s. The request may still complete.",
    },
  ]);
});

test.each([
  [200, 200],
  [404, 200],
  [500, 503],
  [503, 503],
])("readiness follows the upstream: %s there is %s here", async (there, here) => {
  const { ours, seen } = await startPair(sendJson(there, {}), "/base");
  expect((await fetch(`${ours}/readyz`)).status).toBe(here);
  expect(seen).toMatchObject([
    { url: "/base/readyz", headers: { "user-agent": "Quarterdeck/1.2.3" } },
  ]);
});

test("an upstream that leads back to itself is reported instead of causing a loop", async () => {
  let own: ReturnType<typeof createUpstreamApp>["fetch"] | undefined;
  const upstream = await serveOn(
    (request, environment) => own?.(request, environment) ?? new Response(),
  );
  ({ fetch: own } = createUpstreamApp({
    upstream,
    publicUrl: null,
    isAllowedHost: thisMachine,
    dashboardFolder: null,
    version: "1",
    log: silent,
  }));
  const response = await fetch(`${upstream}/api/servers`);
  expect([response.status, await response.json()]).toEqual([
    508,
    { message: "QUARTERDECK_UPSTREAM leads back to this service itself." },
  ]);
});

test("an upstream may pause a response, and the one to an upload, for longer than fetch waits", async () => {
  const held: ServerResponse[] = [];
  const other = await startOther((request, response) => {
    if (request.method === "GET") response.flushHeaders();
    held.push(response);
  });
  shortenLimitsOfFetch();
  const forward = createForwarder(other, null);
  const headers = { "content-type": "application/octet-stream" };
  const requests = () => [
    new Request(`${other}/api/backup/1/file`),
    new Request(`${other}/api/site/1/import`, { method: "POST", headers, body: "file" }),
  ];
  const read = async (response: Promise<Response>) => (await response).text();
  const passed = Promise.allSettled(
    requests().map((request) => read(forward(request, undefined, 600_000))),
  );
  await soon(() => expect(held).toHaveLength(2));
  // These begin later, so `fetch` would have given up the others before.
  for (const request of requests())
    await expect(read(fetch(request))).rejects.toThrow(/^(?:terminated|fetch failed)$/);
  for (const response of held) response.end("rest");
  const rest = { status: "fulfilled", value: "rest" };
  expect(await passed).toEqual([rest, rest]);
});

/** Lets `fetch` wait for 0.5 s instead of 300 s, until the end of the test. */
function shortenLimitsOfFetch(): void {
  const found = currentDispatcher();
  if (found === null) throw new Error("fetch has no dispatcher.");
  const { key, dispatcher } = found;
  const limits = { bodyTimeout: 500, headersTimeout: 500 };
  Reflect.set(globalThis, key, {
    dispatch: (options: object, handler: unknown) =>
      dispatcher.dispatch({ ...limits, ...options }, handler),
  });
  onTestFinished(() => void Reflect.set(globalThis, key, dispatcher));
}
