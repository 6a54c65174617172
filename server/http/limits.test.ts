import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestService, type TestService } from "../testing/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await createTestService({ rateLimit: 3, invalidResponse: "fail" });
});
afterAll(() => service.close());

test("a token that asks too often is told to wait, and for how long", async () => {
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

test("an address that tries token after token is held back, and a right token still gets in", async () => {
  const statuses = new Set<number>();
  for (let count = 0; count < 40; count++)
    statuses.add((await service.call("GET", "/api/servers", undefined, `wrong-${count}`)).status);
  expect([...statuses]).toEqual([401, 429]);
  // The right one has used up its own allowance above, and is told so rather than "Unauthenticated."
  const response = await service.call("GET", "/api/servers");
  expect(response.headers.get("X-RateLimit-Limit")).toBe("3");
});
