import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { Activity } from "../../contract/activity.ts";
import type { NewToken } from "../../contract/tokens.ts";
import { createApp } from "../app.ts";
import { toTimestamp } from "../../contract/values.ts";
import { openUnchanged } from "../store/database.ts";
import { createShiftedClock } from "../testing/shifted-clock.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { createTokens } from "./tokens.ts";

const tenMinutesMs = 10 * 60_000;

async function start(options: Parameters<typeof createTestService>[0] = {}) {
  const service = await createTestService({ token: null, ...options });
  onTestFinished(() => service.close());
  return service;
}

const signIn = async ({ call }: Pick<TestService, "call">, code: string | null) => {
  const response = await call("POST", "/api/sign-in", { code }, "no token yet");
  const body: Answer = await response.json();
  return { status: response.status, body };
};
type Answer = NewToken & { errors?: { code?: string[] } };

const reasonOf = ({ status, body }: { status: number; body: Answer }) => {
  expect(status).toBe(422);
  return body.errors?.code?.[0];
};

test("the code of a new service is exchanged once for a token with all permissions", async () => {
  const service = await start();
  const code = service.app.signInCode;
  expect(code).toMatch(/^[A-Za-z0-9]{28}$/);
  const { status, body } = await signIn(service, code);
  expect(status).toBe(201);
  expect(body).toMatchObject({
    name: "First sign-in",
    abilities: ["*"],
    server_ids: null,
    expires_at: null,
  });
  const list = await service.call("GET", "/api/tokens", undefined, body.token);
  expect(list.status).toBe(200);
  expect(await list.text()).not.toContain(body.token.slice(4));
  expect(reasonOf(await signIn(service, code))).toBe(
    "The code has already been used. Each code works once.",
  );
  const timeline = await service.call("GET", "/api/activity?kind=token", undefined, body.token);
  const { data }: Activity = await timeline.json();
  expect(data).toMatchObject([
    { action: "created", object: { name: "First sign-in" }, actor: { type: "service" } },
  ]);
});

test("only one of many concurrent requests with one code succeeds", async () => {
  const service = await start();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => signIn(service, service.app.signInCode)),
  );
  const [winner, ...others] = answers.filter(({ status }) => status === 201);
  expect(others).toEqual([]);
  expect(answers.filter(({ status }) => status === 422)).toHaveLength(7);
  const list = await service.call("GET", "/api/tokens", undefined, winner?.body.token);
  expect(await list.json()).toMatchObject({ meta: { total: 1 } });
});

test("a link for an operator who lost all tokens signs in once, and says how to get another", async () => {
  const clock = createShiftedClock();
  const service = await start({ clock });
  await signIn(service, service.app.signInCode);
  const opened = await openUnchanged(service.connection);
  onTestFinished(opened.close);
  const tokens = createTokens({ db: opened.db, clock });
  const code = await tokens.replaceCode();
  clock.ahead(tenMinutesMs + 1);
  expect(reasonOf(await signIn(service, code))).toMatch(
    /expired after 10 minutes\. Run `npm run quarterdeck -- token` for a new one\.$/,
  );
  const { status, body } = await signIn(service, await tokens.replaceCode());
  expect([status, body.name, body.abilities]).toEqual([201, "Sign-in link", ["*"]]);
});

test("a code expires after ten minutes", async () => {
  const clock = createShiftedClock();
  const service = await start({ clock });
  clock.ahead(tenMinutesMs + 1);
  expect(reasonOf(await signIn(service, service.app.signInCode))).toMatch(
    /expired after 10 minutes\. Restart the service/,
  );
});

test("an invalid code is unknown, whether the real one was used or not", async () => {
  const service = await start();
  expect(reasonOf(await signIn(service, "x".repeat(28)))).toMatch(/Unknown code/);
  await signIn(service, service.app.signInCode);
  expect(reasonOf(await signIn(service, "x".repeat(28)))).toMatch(/Unknown code/);
  expect(reasonOf(await signIn(service, ""))).toBe("The code field is required.");
});

test("the code is stored only as a hash", async () => {
  const service = await start();
  const client = new pg.Client(service.connection);
  await client.connect();
  onTestFinished(() => client.end());
  const { rows } = await client.query<{ value: string }>("select value from settings");
  expect(rows.map(({ value }) => value).join()).toContain("hash");
  expect(rows.map(({ value }) => value).join()).not.toContain(service.app.signInCode);
});

test("each start prints a new code until a user has signed in, and then none", async () => {
  const service = await start();
  const first = service.app.signInCode;
  const restart = async () => {
    const { signInCode, close } = await createApp(service.options);
    // Services left running would use up the connections that other test files need.
    await close("keep");
    return signInCode;
  };
  const second = await restart();
  expect(second).not.toBe(first);
  expect(reasonOf(await signIn(service, first))).toMatch(/Unknown code/);
  const { body } = await signIn(service, second);
  // The response may have been lost: a token that was never used does not count as a sign-in.
  expect(await restart()).not.toBeNull();
  expect((await service.call("GET", "/api/token", undefined, body.token)).status).toBe(200);
  expect(await restart()).toBeNull();
  await service.call("DELETE", `/api/token/${body.id}`, undefined, body.token);
  expect(await restart()).not.toBeNull();
});

test("a read-only, limited or expired token does not stop new codes", async () => {
  const clock = createShiftedClock();
  const service = await start({ clock });
  const { body: owner } = await signIn(service, service.app.signInCode);
  for (const limits of [
    { abilities: ["read"] },
    { server_ids: [1] },
    { expires_at: toTimestamp(new Date(clock.now() + 60_000)) },
  ]) {
    const response = await service.call(
      "POST",
      "/api/tokens",
      { name: "limited", abilities: ["*"], ...limits },
      owner.token,
    );
    const { token }: NewToken = await response.json();
    expect((await service.call("GET", "/api/token", undefined, token)).status).toBe(200);
  }
  await service.call("DELETE", `/api/token/${owner.id}`, undefined, owner.token);
  clock.ahead(61_000);
  const app = await createApp(service.options);
  onTestFinished(() => app.close("keep"));
  expect(app.signInCode).not.toBeNull();
});

test("a service with a configured token prints no code", async () => {
  const service = await start({ token: "chosen by the operator, long enough" });
  expect(service.app.signInCode).toBeNull();
  expect(reasonOf(await signIn(service, "x".repeat(28)))).toMatch(/Unknown code/);
});

test("an address that tries many codes is throttled like one with wrong tokens, and the right code still works", async () => {
  const service = await start();
  const statuses = new Set<number>();
  for (let count = 0; count < 20; count++)
    statuses.add((await signIn(service, `wrong-${count}`)).status);
  for (let count = 0; count < 20; count++)
    statuses.add((await service.call("GET", "/api/servers", undefined, `wrong-${count}`)).status);
  expect([...statuses]).toEqual([422, 401, 429]);
  const refused = await service.call("POST", "/api/sign-in", { code: "wrong" }, "");
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
  expect((await signIn(service, service.app.signInCode)).status).toBe(201);
});
