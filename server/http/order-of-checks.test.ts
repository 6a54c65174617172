import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { abilityOf, type Operation } from "../../contract/operation.ts";
import { operations } from "../../contract/operations.ts";
import { isLongForm } from "../testing/long-form.ts";
import {
  createResources,
  oneOfEach,
  pathTo,
  plantedSecrets,
  type Resources,
} from "../testing/resources.ts";
import { createTestService, type TestService } from "../testing/service.ts";

let service: TestService;
let resources: Resources;
beforeAll(async () => {
  service = await createTestService({ inventory: oneOfEach, secrets: plantedSecrets });
  resources = await createResources(service, service.folder);
});
afterAll(() => service.close());

/** Returns the id in the text of a token. */
const idOf = (token: string): number => Number(token.split("|")[0]);
const rows: [string, Operation][] = Object.entries(operations);
/** Operations that a read-only token must not call. Public ones need no token. */
const changing = rows.filter(([, row]) => abilityOf(row) === "*" && row.isPublic !== true);
const forEveryServer = rows.filter(([, row]) => row.reach === "every server");

/** Bodies that lead to different responses for a token with ability `*`. */
const bodies: [string, { type: string; body?: string }][] = [
  ["no body", { type: "application/json" }],
  ["malformed JSON", { type: "application/json", body: "{" }],
  ["another type", { type: "text/plain", body: "a=b" }],
  ["too large a body", { type: "application/json", body: " ".repeat(1024 * 1024 + 1) }],
  ["a field that does not fit", { type: "application/json", body: '{"name":7}' }],
];

const send = (
  { method }: Operation,
  path: string,
  token: string,
  { type, body }: { type: string; body?: string },
) =>
  service.app.fetch(
    new Request(`http://quarterdeck.test${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": type },
      ...(body !== undefined && method !== "GET" && { body }),
    }),
  );

const outcome = async (response: Response) => [response.status, await response.json()];

const noIds = ["2147483647", "2147483648", "99999999999999999999", "-1", "0", "x", "1.5"];

describe.each(bodies)("with %s", (_, content) => {
  test.each(changing)("%s is 403 for a token that may only read", async (_name, row) => {
    const path = pathTo(row.path, resources.ids);
    expect(await outcome(await send(row, path, resources.tokens.read, content))).toEqual([
      403,
      { message: "This action is unauthorized." },
    ]);
  });

  test.each(forEveryServer)(
    "%s is 403 for a token that reaches some servers only",
    async (_name, row) => {
      // Uses its own token and server, because others would be a 404.
      const path = pathTo(row.path, {
        ...resources.ids,
        token: idOf(resources.tokens.narrowed),
        server: 2,
      });
      expect(await outcome(await send(row, path, resources.tokens.narrowed, content))).toEqual([
        403,
        { message: "This action is unauthorized." },
      ]);
    },
  );

  test.each(changing.filter(([, { path }]) => path.includes("{")))(
    "%s is 404 where there is nothing, before it is 403",
    async (_name, row) => {
      // All ids are tried with one body only, because the result does not depend on the body.
      for (const id of isLongForm || content === bodies[0]?.[1] ? noIds : noIds.slice(0, 1)) {
        const path = row.path.replace(/\{\w+\}/, id);
        expect(await outcome(await send(row, path, resources.tokens.read, content)), id).toEqual([
          404,
          { message: "Not found." },
        ]);
      }
    },
  );
});

describe("an integer that no column holds", () => {
  const large = [2_147_483_648, 2 ** 53, 1e300, -2_147_483_649];
  const fields: [keyof typeof operations, string, (value: number) => object][] = [
    ["createBackupConfiguration", "storage_provider_id", (n) => ({ storage_provider_id: n })],
    ["createBackupConfiguration", "backupable_id", (n) => ({ backupable_id: n })],
    ["createBackupConfiguration", "hold", (n) => ({ hold: n })],
    ["createBackupConfiguration", "drill", (n) => ({ drill: n })],
    ["updateBackupConfiguration", "storage_provider_id", (n) => ({ storage_provider_id: n })],
    ["updateNotifications", "channels.0", (n) => ({ channels: [n] })],
    ["createToken", "server_ids.0", (n) => ({ server_ids: [n] })],
    ...[
      "max_jobs",
      "max_time",
      "memory",
      "sleep",
      "timeout",
      "tries",
      "processes",
      "startsecs",
      "stopwaitsecs",
      "startretries",
    ].map((name): [keyof typeof operations, string, (value: number) => object] => [
      "createWorker",
      name,
      (n) => ({ [name]: n }),
    ]),
  ];
  test.each(fields)("in the body of %s is refused at %s", async (name, field, body) => {
    const row: Operation = operations[name];
    for (const value of large) {
      const { status, body: answer } = await service.json<{ errors: object }>(
        row.method,
        pathTo(row.path, resources.ids),
        body(value),
      );
      expect([status, Object.keys(answer.errors)], String(value)).toEqual([
        422,
        expect.arrayContaining([field]),
      ]);
    }
  });

  test.each(rows.filter(([, { query }]) => query !== undefined))(
    "in the query of %s is no error of the service",
    async (_, row) => {
      for (const value of ["2147483648", "99999999999999999999", "-1", "1e300", "1.5", "NaN"])
        for (const name of [
          "page",
          "per_page",
          "before",
          "after",
          "server",
          "site",
          "offset",
          "lines",
        ]) {
          if (row.method !== "GET") continue;
          const path = `${pathTo(row.path, resources.ids)}?${name}=${value}`;
          const { status } = await service.call(row.method, path);
          expect([200, 422], `${path} is ${status}`).toContain(status);
        }
    },
  );
});
