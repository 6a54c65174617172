import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../app.ts";
import { oneOfMany } from "../testing/instance.ts";
import { createTestService, type TestService } from "../testing/service.ts";

describe.each([
  ["by one instance", null],
  ["by all instances on a database", oneOfMany],
])("counted %s", (_, instance) => {
  let service: TestService;
  beforeAll(async () => {
    service = await createTestService({ rateLimit: 3, instance });
  });
  afterAll(() => service.close());

  test("tells a token that exceeds its limit to wait, and for how long", async () => {
    const remaining: (string | null)[] = [];
    for (let count = 0; count < 3; count++) {
      const response = await service.call("GET", "/api/servers");
      expect(response.status).toBe(200);
      expect(response.headers.get("X-RateLimit-Limit")).toBe("3");
      remaining.push(response.headers.get("X-RateLimit-Remaining"));
    }
    expect(remaining).toEqual(["2", "1", "0"]);
    const refused = await service.call("GET", "/api/nothing");
    expect(refused.status).toBe(429);
    expect(await refused.json()).toEqual({ message: "Too Many Attempts." });
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(Number(refused.headers.get("X-RateLimit-Reset"))).toBeGreaterThan(Date.now() / 1000);
  });

  test("throttles an address that tries many tokens, and still accepts a valid one", async () => {
    const statuses = new Set<number>();
    for (let count = 0; count < 40; count++)
      statuses.add((await service.call("GET", "/api/servers", undefined, `wrong-${count}`)).status);
    expect([...statuses]).toEqual([401, 429]);
    // The valid token has used up its own limit above, so its error is not "Unauthenticated."
    const response = await service.call("GET", "/api/servers");
    expect(response.headers.get("X-RateLimit-Limit")).toBe("3");
  });
});

test("counts on several instances together, and deletes expired counters", async () => {
  const service = await createTestService({ rateLimit: 3, instance: oneOfMany });
  try {
    const first = service.app;
    for (let count = 0; count < 3; count++) await service.call("GET", "/api/servers");
    for (let count = 0; count < 30; count++)
      await service.call("GET", "/api/servers", undefined, `wrong-${count}`);
    await first.close("keep");
    service.app = await createApp(service.options);
    expect((await service.call("GET", "/api/servers")).status).toBe(429);
    expect((await service.call("GET", "/api/servers", undefined, "wrong")).status).toBe(429);
    const keys = await service.query<{ key: string }>("select key from rate_limits order by key");
    // Neither a token nor a part of one.
    expect(keys.map(({ key }) => key)).toEqual(["failures:unknown", "requests:1"]);
    await service.app.close("keep");
    await service.query("update rate_limits set expire = expire - 60000");
    service.app = await createApp(service.options);
    await expect
      .poll(() => service.query("select from rate_limits"), { timeout: 60_000 })
      .toEqual([]);
  } finally {
    await service.close();
  }
});

test("a minute started by an instance with another clock lasts at most one minute", async () => {
  const service = await createTestService({ rateLimit: 3, instance: oneOfMany });
  try {
    const dueMs = "(extract(epoch from now()) * 1000)::bigint";
    await service.query(
      `insert into rate_limits (key, points, expire) values ('requests:1', 3, ${dueMs} + 7200000)`,
    );
    const first = await service.call("GET", "/api/servers");
    expect(first.status).toBe(200);
    expect(first.headers.get("X-RateLimit-Remaining")).toBe("2");
    for (let count = 0; count < 2; count++) await service.call("GET", "/api/servers");
    const refused = await service.call("GET", "/api/servers");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("Retry-After"))).toBeLessThanOrEqual(60);
    expect(
      await service.query(
        `select from rate_limits where expire between ${dueMs} and ${dueMs} + 60000`,
      ),
    ).toHaveLength(1);
  } finally {
    await service.close();
  }
});
