import { realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeMemoryFolder } from "./testing/memory-folder.ts";
import { administer, createDatabase, databaseUrl } from "./testing/service.ts";
import { startService, type ServiceProcess } from "./testing/service-process.ts";

const secret = "whsec_planted-in-a-rejection";

/** Causes an unhandled rejection with an error of Drizzle when the signal arrives. */
const rejecting = `process.on("SIGUSR2", () => {
  const cause = Object.assign(new Error("no"), { severity: "ERROR", code: "23505", detail: "${secret}" });
  const message = "Failed query: insert\\nparams: ${secret}";
  void Promise.reject(Object.assign(new Error(message, { cause }), { query: "insert", params: ["${secret}"] }));
});`;

let folder: string;
let database: string;
let service: ServiceProcess;
beforeAll(async () => {
  folder = await realpath(await makeMemoryFolder("quarterdeck-uncaught-"));
  await writeFile(join(folder, "rejecting.cjs"), rejecting);
  database = await createDatabase();
  service = await startService(folder, {
    DATABASE_URL: databaseUrl(database),
    NODE_OPTIONS: `--require=${join(folder, "rejecting.cjs")}`,
  });
});
afterAll(async () => {
  await service.end("SIGKILL");
  await administer(`drop database ${database} with (force)`);
  await rm(folder, { recursive: true, force: true });
});

test("an unhandled rejection ends the service, and is logged without the values of its query", async () => {
  await service.end("SIGUSR2");
  expect(service.child.exitCode).toBe(1);
  expect(service.output()).toContain("an error that nobody awaited");
  expect(service.output()).toContain("Failed query: insert");
  expect(service.output()).not.toContain(secret);
});
