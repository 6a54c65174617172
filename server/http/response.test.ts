import { expect, test } from "vitest";
import { operations } from "../../contract/operations.ts";
import { createLog } from "../log.ts";
import { createResponseWriter } from "./response.ts";

const log = createLog("silent");
const server = { id: 1, name: "web-1", time_zone: "UTC", memory: null };
const row = operations.showServer;

test("never sends a field that the schema lacks, not even the second time", () => {
  const write = createResponseWriter("fail", log);
  for (let count = 0; count < 2; count++)
    expect(JSON.parse(write(row, 200, { ...server, password: "secret" }).text)).toEqual(server);
});

test("equal responses have equal ETags, and different ones different ETags", () => {
  const write = createResponseWriter("fail", log);
  const { tag } = write(row, 200, server);
  expect(write(row, 200, { ...server }).tag).toBe(tag);
  expect(write(row, 200, { ...server, name: "web-2" }).tag).not.toBe(tag);
});

test("caches polled responses, and large ones only for a short time", () => {
  const write = createResponseWriter("fail", log);
  const first = write(row, 200, server);
  expect(write(row, 200, server)).toBe(first);
  for (let count = 0; count < 10; count++)
    write(row, 200, { ...server, name: `${count}${"-".repeat(1_000_000)}` });
  expect(write(row, 200, server)).not.toBe(first);
});

test("a response that violates its schema fails in tests, and is logged and sent without unnamed fields in production", () => {
  const broken = { ...server, time_zone: 7 };
  expect(() => createResponseWriter("fail", log)(row, 200, broken)).toThrow(
    "breaks its own schema",
  );
  const lines: string[] = [];
  const write = createResponseWriter(
    "log",
    createLog("info", { write: (line) => void lines.push(line) }),
  );
  const leaking = { ...broken, password: "planted", entry: { name: "planted" } };
  expect(JSON.parse(write(row, 200, leaking).text)).toEqual(broken);
  const list = { data: [leaking], meta: { total: -1 } };
  expect(JSON.parse(write(operations.listServers, 200, list).text)).toEqual({
    data: [broken],
    meta: { total: -1 },
  });
  expect(JSON.parse(write(row, 418, leaking).text)).toEqual({});
  expect(lines.join()).toContain("breaks its own schema");
});
