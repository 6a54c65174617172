// Sends thousands of requests generated from the interface description: the service must not fail, must return the described
// schema, and must leak no secret. FUZZ_SEED repeats a failure, FUZZ_REQUESTS sets the number.
import type { Server } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLog } from "../log.ts";
import { readSmtpUrl } from "../notifications/channels/smtp-url.ts";
import { portOf } from "../testing/port-of.ts";
import { askRaw } from "../testing/ask-raw.ts";
import { describedOperations, type Description } from "../testing/fuzz/description.ts";
import { createFuzz, type FuzzOptions } from "../testing/fuzz/fuzz.ts";
import { plannedRequest } from "../testing/fuzz/requests.ts";
import { secretIn, secretsInFiles, secretsInProcesses } from "../testing/fuzz/secrets.ts";
import { makeSeed } from "../testing/random.ts";
import {
  createResources,
  oneOfEach,
  plantedSecrets,
  type Resources,
} from "../testing/resources.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { listen } from "./listen.ts";

const seed = makeSeed("FUZZ_SEED");
const requests = Number(process.env["FUZZ_REQUESTS"] ?? 120);
/** The others are passed to the service without a socket, which takes half the time. */
const throughSocket = Math.round(requests * 0.25);
const timeoutMs = 120_000 + requests * 100;

const smtpUrl = "smtp://ops:planted-smtp-password@127.0.0.1:9?from=ops@example.com";
const planted = [
  "planted-smtp-password",
  "planted-database-password",
  "planted-channel-path",
  "planted-channel-key",
  plantedSecrets.S3_KEY,
  plantedSecrets.S3_SECRET,
];

type Target = Pick<FuzzOptions, "url" | "send"> & {
  many: number;
  /** Methods to send in addition to those of the description. */
  methods: string[];
};

/** Number of concurrent requests, as of several users. */
const atOnce = 4;
/** Number of rounds after which the arguments of the machine's processes are checked. */
const looksEvery = 25;

let service: TestService;
let server: Server;
let resources: Resources;
/** The log of the service so far. */
let log = "";
beforeAll(async () => {
  service = await createTestService({
    inventory: oneOfEach,
    secrets: plantedSecrets,
    smtp: readSmtpUrl(smtpUrl),
    log: createLog("debug", { write: (line) => void (log += line) }),
  });
  server = await listen(service.app.fetch, 0, "127.0.0.1");
  resources = await createResources(service, service.folder);
  await service.call("PUT", "/api/site/1/notifications", { channels: [1, 2] });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await service.close();
});

async function expectNoFault({ many, methods, ...target }: Target): Promise<void> {
  const { call, token, folder } = service;
  // If the description had another form, every response would be reported as wrong.
  const description: Description = await (await call("GET", "/openapi.json")).json();
  const described = describedOperations(description);
  const secrets = [...planted, token, resources.webhookSecret];
  const { attempt, statuses } = createFuzz({
    ...target,
    token,
    description,
    described,
    resources,
    secrets,
  });

  let count = 0;
  const several = fc.array(plannedRequest(described, methods), {
    minLength: atOnce,
    maxLength: atOnce,
  });
  const property = fc.asyncProperty(several, async (planned) => {
    await Promise.all(planned.map(attempt));
    count += 1;
    if (count % looksEvery === 0) expect(await secretsInProcesses(secrets)).toEqual([]);
  });
  try {
    await fc.assert(property, { seed, numRuns: Math.ceil(many / atOnce) });
  } catch (failure) {
    const logged = log.split("\n").filter((line) => line.includes("a request failed"));
    throw new Error(`${String(failure)}\nThe service said:\n${logged.join("\n")}`, {
      cause: failure,
    });
  }

  // A shorter run may miss some of these.
  if (many >= 200)
    expect([...statuses.keys()]).toEqual(expect.arrayContaining(["200", "201", "422"]));
  expect((await call("GET", "/readyz")).status).toBe(200);
  expect((await call("GET", "/api/overview")).status).toBe(200);
  expect(secretIn(await (await call("GET", "/metrics")).text(), secrets)).toBeNull();
  expect(secretIn(log, secrets)).toBeNull();
  expect(log).not.toMatch(/a request failed|breaks its own schema/);
  expect(await secretsInFiles(folder, secrets)).toEqual([]);
}

test(
  `${requests - throughSocket} requests without a socket: no failure, only described responses, no leaked secret (FUZZ_SEED=${seed})`,
  { timeout: timeoutMs },
  async () => {
    const url = "http://quarterdeck.test";
    await expectNoFault({
      url,
      many: requests - throughSocket,
      methods: ["PROPFIND", "FOO"],
      async send({ method, path, headers, body }) {
        const request = new Request(url + path, {
          method,
          headers: headers.map(([name, value]): [string, string] => [name, value]),
          ...(body !== null && { body: Buffer.from(body) }),
        });
        const response = await service.app.fetch(request);
        return {
          status: response.status,
          headers: response.headers,
          body: await response.text(),
        };
      },
    });
  },
);

test(
  `${throughSocket} requests through a socket: no failure, only described responses, no leaked secret (FUZZ_SEED=${seed})`,
  { timeout: timeoutMs },
  async () => {
    const host = `127.0.0.1:${portOf(server)}`;
    const url = `http://${host}`;
    await expectNoFault({
      url,
      many: throughSocket,
      methods: ["PROPFIND", "TRACE", "QUERY"],
      send({ method, path, headers, body }) {
        const lines = [
          `Host: ${host}`,
          // With a larger Content-Length than the body's, the service would wait for the rest.
          ...headers
            .filter(([name]) => name !== "Content-Length")
            .map(([name, value]) => `${name}: ${value}`),
          ...(body === null ? [] : [`Content-Length: ${body.length}`]),
        ];
        return askRaw(url, `${method} ${path} HTTP/1.1`, lines, body ?? "");
      },
    });
  },
);
