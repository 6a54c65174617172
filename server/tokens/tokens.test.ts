import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Token } from "../../contract/tokens.ts";
import { toTimestamp } from "../../contract/values.ts";
import { createTestService, oneSite, type TestService } from "../testing/service.ts";
import { ownUser } from "../testing/own-user.ts";

const twoServers = (folder: string) =>
  oneSite(folder).replace(
    "sites:",
    "  - { id: 2, name: other, connection: local }\nsites:\n" +
      `  - { id: 2, server: 2, name: far, root: ${folder}/shop, user: ${ownUser} }`,
  );

let service: TestService;
beforeAll(async () => {
  service = await createTestService({ inventory: twoServers });
});
afterAll(() => service.close());

type NewToken = Token & { token: string };
const make = async (body: object) => {
  const { status, body: token } = await service.json<NewToken>("POST", "/api/tokens", body);
  expect(status).toBe(201);
  return token;
};
const statusWith = async (token: string, method: string, path: string, body?: unknown) =>
  (await service.call(method, path, body, token)).status;

test("shows a new token once, which works", async () => {
  const made = await make({ name: "ci", abilities: ["*"] });
  expect(made.token).toMatch(/^\d+\|qd_[A-Za-z0-9]{40}[0-9a-f]{8}$/);
  expect(await statusWith(made.token, "GET", "/api/servers")).toBe(200);
  const list = await (await service.call("GET", "/api/tokens")).text();
  expect(list).not.toContain(made.token.split("|")[1]);
  expect(list).toContain('"name":"ci"');
});

test("a read-only token can only GET", async () => {
  const { token } = await make({ name: "reader", abilities: ["read"] });
  expect(await statusWith(token, "GET", "/api/site/1/workers")).toBe(200);
  expect(await statusWith(token, "POST", "/api/site/1/worker", {})).toBe(403);
  expect(await statusWith(token, "GET", "/api/tokens")).toBe(403);
  expect(await statusWith(token, "POST", "/api/tokens", {})).toBe(403);
});

test("a missing object is 404 rather than 403", async () => {
  const { token } = await make({ name: "reader", abilities: ["read"] });
  expect(await statusWith(token, "DELETE", "/api/worker/99")).toBe(404);
});

test("a token limited to one server sees nothing of another, as if it did not exist", async () => {
  const { token } = await make({ name: "half", abilities: ["*"], server_ids: [1] });
  expect(await statusWith(token, "GET", "/api/server/1")).toBe(200);
  expect(await statusWith(token, "GET", "/api/server/2")).toBe(404);
  expect(await statusWith(token, "GET", "/api/site/2")).toBe(404);
  expect(await statusWith(token, "GET", "/api/site/2/workers")).toBe(404);
  expect(await statusWith(token, "POST", "/api/site/2/worker", {})).toBe(404);
  const response = await service.call("GET", "/api/servers", undefined, token);
  expect(await response.json()).toMatchObject({ data: [{ id: 1 }], meta: { total: 1 } });
});

test("a token limited to one server cannot manage tokens, because it could create one for all", async () => {
  const made = await make({ name: "half", abilities: ["*"], server_ids: [1] });
  const body = { name: "whole", abilities: ["*"] };
  expect(await statusWith(made.token, "GET", "/api/tokens")).toBe(403);
  expect(await statusWith(made.token, "POST", "/api/tokens", body)).toBe(403);
  expect(await statusWith(made.token, "DELETE", `/api/token/${made.id}`)).toBe(403);
});

test("the list marks the current token, and the one that the next start restores", async () => {
  const { id, token } = await make({ name: "second", abilities: ["*"] });
  const asked = await service.call("GET", "/api/tokens?per_page=100", undefined, token);
  const { data }: { data: Token[] } = await asked.json();
  expect(data.filter(({ is_current: isCurrent }) => isCurrent).map((one) => one.id)).toEqual([id]);
  expect(data.filter((one) => one.from_environment).map(({ name }) => name)).toEqual([
    "QUARTERDECK_TOKEN",
  ]);
});

test("a revoked token is refused at once", async () => {
  const made = await make({ name: "gone", abilities: ["*"] });
  expect((await service.call("DELETE", `/api/token/${made.id}`)).status).toBe(204);
  expect(await statusWith(made.token, "GET", "/api/servers")).toBe(401);
  expect((await service.call("DELETE", `/api/token/${made.id}`)).status).toBe(404);
});

test("a token sees other tokens only if it may manage them", async () => {
  const narrowed = await make({ name: "half", abilities: ["*"], server_ids: [1] });
  const other = await make({ name: "other", abilities: ["read"] });
  expect(await statusWith(narrowed.token, "DELETE", `/api/token/${other.id}`)).toBe(404);
  expect(await statusWith(narrowed.token, "DELETE", "/api/token/999999")).toBe(404);
});

test("each token can show itself", async () => {
  const made = await make({ name: "who", abilities: ["read"], server_ids: [2] });
  const response = await service.call("GET", "/api/token", undefined, made.token);
  expect(await response.json()).toMatchObject({
    id: made.id,
    name: "who",
    abilities: ["read"],
    server_ids: [2],
    is_current: true,
  });
  expect(await statusWith("nonsense", "GET", "/api/token")).toBe(401);
});

describe("a token created by a token does not outlive it", () => {
  const until = (days: number) => toTimestamp(new Date(Date.now() + days * 24 * 3600 * 1000));
  const makeWith = (token: string, body: object) =>
    service.call("POST", "/api/tokens", { name: "child", abilities: ["*"], ...body }, token);

  test("expires with its creator by default", async () => {
    const maker = await make({ name: "maker", abilities: ["*"], expires_at: until(7) });
    const response = await makeWith(maker.token, {});
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ expires_at: maker.expires_at });
  });

  test.each([
    ["never", null],
    ["later", until(8)],
    ["a millisecond later", toTimestamp(new Date(Date.parse(until(7)) + 1))],
  ])("refuses the expiry “%s” at its field", async (_when, asked) => {
    const maker = await make({
      name: "maker",
      abilities: ["*"],
      expires_at: asked === null ? until(7) : toTimestamp(new Date(Date.parse(asked) - 1)),
    });
    const response = await makeWith(maker.token, { expires_at: asked });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      errors: {
        expires_at: [
          `The token must expire by ${maker.expires_at}, when the token that creates it expires.`,
        ],
      },
    });
  });

  test("accepts the creator's own expiry and any earlier one", async () => {
    const maker = await make({ name: "maker", abilities: ["*"], expires_at: until(7) });
    for (const asked of [maker.expires_at, until(6)]) {
      const response = await makeWith(maker.token, { expires_at: asked });
      expect(response.status).toBe(201);
      expect(await response.json()).toMatchObject({ expires_at: asked });
    }
  });

  test("nor does a token that it creates itself", async () => {
    const maker = await make({ name: "maker", abilities: ["*"], expires_at: until(7) });
    const child: NewToken = await (await makeWith(maker.token, {})).json();
    expect((await makeWith(child.token, { expires_at: null })).status).toBe(422);
  });

  test("a token that does not expire may set any expiry", async () => {
    expect(await make({ name: "a", abilities: ["*"] })).toMatchObject({ expires_at: null });
    expect(await make({ name: "b", abilities: ["*"], expires_at: null })).toMatchObject({
      expires_at: null,
    });
  });

  test("a token that was just revoked creates none, although it was checked a moment ago", async () => {
    const maker = await make({ name: "gone", abilities: ["*"] });
    expect(await statusWith(maker.token, "GET", "/api/servers")).toBe(200);
    await service.call("DELETE", `/api/token/${maker.id}`);
    expect((await makeWith(maker.token, {})).status).toBe(401);
  });
});

test("a token that another instance revoked sees itself as revoked, not as missing", async () => {
  const { id, token } = await make({ name: "gone elsewhere", abilities: ["*"] });
  expect(await statusWith(token, "GET", "/api/token")).toBe(200);
  await service.query("DELETE FROM tokens WHERE id = $1", [id]);
  const answer = await service.call("GET", "/api/token", undefined, token);
  expect(answer.status).toBe(401);
  expect(await answer.json()).toEqual({ message: "Unauthenticated.", code: "token_unknown" });
});

test("a token that another instance revoked is refused even if the clock is set back", async () => {
  const { id, token } = await make({ name: "gone elsewhere", abilities: ["*"] });
  expect(await statusWith(token, "GET", "/api/servers")).toBe(200);
  await service.query("DELETE FROM tokens WHERE id = $1", [id]);
  await service.ahead(-3_600_000);
  onTestFinished(() => service.ahead(3_600_000));
  expect(await statusWith(token, "GET", "/api/servers")).toBe(401);
});

test("a token expires at its time", async () => {
  const { token } = await make({
    name: "past",
    abilities: ["*"],
    expires_at: toTimestamp(new Date(Date.now() + 60_000)),
  });
  await service.ahead(60_000);
  const refusal = await service.call("GET", "/api/servers", undefined, token);
  expect(refusal.status).toBe(401);
  // A request with the whole token gets the reason; one that only guesses does not.
  const why = async (response: Response) => [
    response.headers.get("WWW-Authenticate"),
    await response.json(),
  ];
  expect(await why(refusal)).toEqual([
    'Bearer error="invalid_token", error_description="The token expired"',
    { message: "Unauthenticated.", code: "token_expired" },
  ]);
  const guess = `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`;
  const unknown = ["Bearer", { message: "Unauthenticated.", code: "token_unknown" }];
  expect(await why(await service.call("GET", "/api/servers", undefined, guess))).toEqual(unknown);
  // A revoked token is not stored, so it cannot be distinguished from an unknown one.
  const revoked = await make({ name: "gone", abilities: ["*"] });
  await service.call("DELETE", `/api/token/${revoked.id}`);
  const answer = await service.call("GET", "/api/servers", undefined, revoked.token);
  expect(await why(answer)).toEqual(unknown);
});

test.each([
  ["2099-01-31T09:30Z", "2099-01-31T09:30:00.000000Z"],
  ["2099-01-31T09:30:00Z", "2099-01-31T09:30:00.000000Z"],
  ["2099-01-31T09:30:00.5Z", "2099-01-31T09:30:00.500000Z"],
  ["2099-01-31T09:30:00.250000Z", "2099-01-31T09:30:00.250000Z"],
])("accepts %s as an expiry", async (asked, stored) => {
  const token = await make({ name: "until", abilities: ["read"], expires_at: asked });
  expect(token.expires_at).toBe(stored);
});

describe("refuses an invalid token at its fields", () => {
  test.each([
    [{ abilities: ["*"] }, "name"],
    [{ name: "x", abilities: [] }, "abilities"],
    [{ name: "x", abilities: ["write"] }, "abilities.0"],
    [{ name: "x", abilities: ["*"], expires_at: "tomorrow" }, "expires_at"],
    [{ name: "x", abilities: ["*"], expires_at: "2026-13-45T99:99:99.000000Z" }, "expires_at"],
    [{ name: "x", abilities: ["*"], expires_at: "2026-02-30T00:00:00.000000Z" }, "expires_at"],
    [{ name: "x", abilities: ["*"], expires_at: "0000-01-01T00:00:00.000000Z" }, "expires_at"],
    [{ name: "x", abilities: ["*"], expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
    [{ name: "x", abilities: ["*"], server_ids: [] }, "server_ids"],
  ])("%o", async (body, field) => {
    const answer = await service.json<{ errors: object }>("POST", "/api/tokens", body);
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors)).toEqual([field]);
  });
});
