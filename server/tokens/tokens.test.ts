import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Token } from "../../contract/tokens.ts";
import { createTestService, oneSite, type TestService } from "../testing/service.ts";

const twoServers = (folder: string) =>
  oneSite(folder).replace(
    "sites:",
    "  - { id: 2, name: other, connection: local }\nsites:\n" +
      `  - { id: 2, server: 2, name: far, root: ${folder}/shop }`,
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

test("a new token is shown once and works", async () => {
  const made = await make({ name: "ci", abilities: ["*"] });
  expect(made.token).toMatch(/^\d+\|qd_[A-Za-z0-9]{40}[0-9a-f]{8}$/);
  expect(await statusWith(made.token, "GET", "/api/servers")).toBe(200);
  const list = await (await service.call("GET", "/api/tokens")).text();
  expect(list).not.toContain(made.token.split("|")[1]);
  expect(list).toContain('"name":"ci"');
});

test("a token that may read can GET and nothing else", async () => {
  const { token } = await make({ name: "reader", abilities: ["read"] });
  expect(await statusWith(token, "GET", "/api/site/1/workers")).toBe(200);
  expect(await statusWith(token, "POST", "/api/site/1/worker", {})).toBe(403);
  expect(await statusWith(token, "GET", "/api/tokens")).toBe(403);
  expect(await statusWith(token, "POST", "/api/tokens", {})).toBe(403);
});

test("what is not there is 404 before it is forbidden", async () => {
  const { token } = await make({ name: "reader", abilities: ["read"] });
  expect(await statusWith(token, "DELETE", "/api/worker/99")).toBe(404);
});

test("a token for one server sees nothing of another, as if it were not there", async () => {
  const { token } = await make({ name: "half", abilities: ["*"], server_ids: [1] });
  expect(await statusWith(token, "GET", "/api/server/1")).toBe(200);
  expect(await statusWith(token, "GET", "/api/server/2")).toBe(404);
  expect(await statusWith(token, "GET", "/api/site/2")).toBe(404);
  expect(await statusWith(token, "GET", "/api/site/2/workers")).toBe(404);
  expect(await statusWith(token, "POST", "/api/site/2/worker", {})).toBe(404);
  const response = await service.call("GET", "/api/servers", undefined, token);
  expect(await response.json()).toMatchObject({ data: [{ id: 1 }], meta: { total: 1 } });
});

test("a token for one server touches no tokens: it could make itself one for all", async () => {
  const made = await make({ name: "half", abilities: ["*"], server_ids: [1] });
  const body = { name: "whole", abilities: ["*"] };
  expect(await statusWith(made.token, "GET", "/api/tokens")).toBe(403);
  expect(await statusWith(made.token, "POST", "/api/tokens", body)).toBe(403);
  expect(await statusWith(made.token, "DELETE", `/api/token/${made.id}`)).toBe(403);
});

test("the list says which token asks, and which one the next start brings back", async () => {
  const { id, token } = await make({ name: "second", abilities: ["*"] });
  const asked = await service.call("GET", "/api/tokens?per_page=100", undefined, token);
  const { data } = (await asked.json()) as { data: Token[] };
  expect(data.filter(({ is_current: isCurrent }) => isCurrent).map((one) => one.id)).toEqual([id]);
  expect(data.filter((one) => one.from_environment).map(({ name }) => name)).toEqual([
    "QUARTERDECK_TOKEN",
  ]);
});

test("a revoked token is out at once", async () => {
  const made = await make({ name: "gone", abilities: ["*"] });
  expect((await service.call("DELETE", `/api/token/${made.id}`)).status).toBe(204);
  expect(await statusWith(made.token, "GET", "/api/servers")).toBe(401);
  expect((await service.call("DELETE", `/api/token/${made.id}`)).status).toBe(404);
});

test("a service without any token makes a first one, and tells it once", async () => {
  const fresh = await createTestService({ token: null });
  const { firstToken } = fresh.app;
  expect(firstToken).toMatch(/^1\|qd_/);
  const response = await fresh.call("GET", "/api/tokens", undefined, firstToken ?? "");
  expect(response.status).toBe(200);
  expect(await response.text()).not.toContain(firstToken?.slice(2));
  await fresh.close();
});

test("a token ends when it said it would", async () => {
  const { token } = await make({
    name: "past",
    abilities: ["*"],
    expires_at: "2020-01-01T00:00:00.000000Z",
  });
  expect(await statusWith(token, "GET", "/api/servers")).toBe(401);
});

describe("a token that cannot be is refused at its field", () => {
  test.each([
    [{ abilities: ["*"] }, "name"],
    [{ name: "x", abilities: [] }, "abilities"],
    [{ name: "x", abilities: ["write"] }, "abilities.0"],
    [{ name: "x", abilities: ["*"], expires_at: "tomorrow" }, "expires_at"],
    [{ name: "x", abilities: ["*"], server_ids: [] }, "server_ids"],
  ])("%o", async (body, field) => {
    const answer = await service.json<{ errors: object }>("POST", "/api/tokens", body);
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors)).toEqual([field]);
  });
});
