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

/** Returns the id of a token, which precedes its secret part. */
const idOf = (token: string): number => Number(token.split("|")[0]);
const rows: [string, Operation][] = Object.entries(operations);
/** Public operations need no token. */
const changing = rows.filter(([, row]) => abilityOf(row) === "*" && row.isPublic !== true);
const forEveryServer = rows.filter(([, row]) => row.reach === "every server");

/** Bodies, each of which leads to its own response for a token that may write. */
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
  test.each(changing)("%s is 403 for a read-only token", async (_name, row) => {
    const path = pathTo(row.path, resources.ids);
    expect(await outcome(await send(row, path, resources.tokens.read, content))).toEqual([
      403,
      { message: "This action is unauthorized." },
    ]);
  });

  test.each(forEveryServer)(
    "%s is 403 for a token that is limited to some servers",
    async (_name, row) => {
      // A limited token sees only its own token and servers, so others are 404.
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
    "%s is 404 for a missing object rather than 403",
    async (_name, row) => {
      // Invalid ids take the same code path with every body.
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

describe("an integer that fits no column", () => {
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
    "in the query of %s causes no internal error",
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
