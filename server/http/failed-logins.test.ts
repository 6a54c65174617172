import type { HttpBindings } from "@hono/node-server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createLog } from "../log.ts";
import { createTestService, type TestService } from "../testing/service.ts";

let lines: { level: number; msg: string; address?: string }[] = [];
let text = "";
let hosts = 0;
const log = createLog("trace", {
  write(line) {
    text += line;
    lines.push(JSON.parse(line));
  },
});

let service: TestService;
beforeAll(async () => {
  service = await createTestService({ log });
});
afterAll(() => service.close());
beforeEach(() => {
  lines = [];
  text = "";
});

/** Sends a request as if it came through a socket from `address`. */
const ask = async (address: string, authorization?: string, path = "/api/servers") => {
  const socket = { remoteAddress: address };
  // The cast holds because the app reads only the remote address from the bindings.
  const bindings = { incoming: { socket } } as HttpBindings;
  const headers = authorization === undefined ? {} : { Authorization: authorization };
  const request = new Request(`http://quarterdeck.test${path}`, { headers });
  return (await service.app.fetch(request, bindings)).status;
};

const askOften = async (count: number, from: (place: number) => string, header: string) => {
  const statuses: number[] = [];
  for (let place = 0; place < count; place++) statuses.push(await ask(from(place), header));
  return statuses;
};

test.each([
  ["a token that is not known", "Bearer wrong"],
  ["an id that no column holds", "Bearer 2147483648|x"],
  ["an id of ten digits", "Bearer 9999999999|x"],
  ["an id beyond all digits", "Bearer 99999999999999999999|x"],
  ["the id of another one", "Bearer 1|qd_x"],
  ["no token after the scheme", "Bearer"],
  ["another scheme", "Basic dXNlcjpwYXNzd29yZA=="],
  ["no scheme", "wrong"],
  ["more than a token can be", `Bearer ${"x".repeat(600)}`],
])("%s is 401 thirty times a minute, and 429 from then on", async (_, header) => {
  // Each header has its own address.
  const address = `192.0.2.${(hosts += 1)}`;
  const statuses = await askOften(33, () => address, header);
  expect(statuses).toEqual([...Array<number>(30).fill(401), 429, 429, 429]);
  expect(await ask(address, header, "/metrics")).toBe(429);
});

test("counts the addresses of one IPv6 network together, and separately from others", async () => {
  const header = "Bearer wrong";
  const statuses = await askOften(31, (place) => `2001:db8:1:2::${place.toString(16)}`, header);
  expect(statuses).toEqual([...Array<number>(30).fill(401), 429]);
  expect(await ask("2001:db8:1:3::1", header)).toBe(401);
  expect((await askOften(31, () => "203.0.113.1", header)).at(-1)).toBe(429);
  expect(await ask("::ffff:203.0.113.1", header)).toBe(429);
});

test("accepts a valid token from a throttled address", async () => {
  await askOften(31, () => "203.0.113.2", "Bearer wrong");
  expect(await ask("203.0.113.2", `Bearer ${service.token}`)).toBe(200);
});

test("does not count a request without a token as a failed login", async () => {
  const address = "203.0.113.3";
  for (let place = 0; place < 40; place++) expect(await ask(address)).toBe(401);
  expect(lines).toEqual([]);
});

test("logs a failed login with its address and without any part of the token", async () => {
  const secret = "1|qd_leakedLEAKED0123456789leakedLEAKED0123456789";
  await ask("203.0.113.4", `Bearer ${secret}`);
  await ask("2001:db8:9::7", `Basic ${btoa(`user:${secret}`)}`);
  expect(lines).toMatchObject([
    { level: 40, msg: "a login failed", address: "203.0.113.4" },
    { level: 40, msg: "a login failed", address: "2001:db8:9::7" },
  ]);
  expect(text).not.toMatch(/leaked|qd_|Bearer|Basic|dXNlc/i);
});

test("logs repeated failures once more, and not at each attempt", async () => {
  await askOften(50, () => "203.0.113.5", "Bearer wrong");
  expect(lines).toHaveLength(31);
  expect(lines.at(-1)).toMatchObject({
    address: "203.0.113.5",
    msg: "a login failed, and further ones are refused for a minute",
  });
});
