import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, realpath, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "./backups/testing/postgres-server.ts";
import { startCuttableLink, type CuttableLink } from "./testing/cuttable-link.ts";
import { makeMemoryFolder } from "./testing/memory-folder.ts";
import { portOf } from "./testing/port-of.ts";
import { startService, type ServiceProcess } from "./testing/service-process.ts";
import { sendSignal } from "./testing/signals.ts";
import { toError } from "./to-error.ts";
import { inLongForm } from "./testing/long-form.ts";

test("SIGTERM ends a start in order, and not as a failed one", async () => {
  const folder = await realpath(await makeMemoryFolder("quarterdeck-stop-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const schemaFile = join(folder, "inventory.schema.json");
  // Which error comes first, from the database that ends or from its clients, is random.
  for (let round = 0; round < 3; round++) {
    await rm(schemaFile, { force: true });
    const ended = startService(folder).then(
      () => "It is ready.",
      (error: unknown) => toError(error).message,
    );
    // The database is running then, and the start is not yet complete.
    while (!existsSync(schemaFile)) await wait(5);
    sendSignal(Number(await readFile(join(folder, "lock/instance.pid"), "utf8")), "SIGTERM");
    expect(await ended).toMatch(/^The service ended with 0:/);
    expect(existsSync(join(folder, "postgres/data/postmaster.pid"))).toBe(false);
  }
});

inLongForm(() => {
  test("SIGTERM ends a test of a connection that hangs, which is no error", async () => {
    const folder = await realpath(await makeMemoryFolder("quarterdeck-stop-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    const service = await startService(folder, { SMTP_URL: `smtp://127.0.0.1:${portOf(silent)}` });
    onTestFinished(() => service.end("SIGKILL"));
    const connected = once(silent, "connection");
    const channel = { name: "ops", type: "email", email: "ops@example.com" };
    const answered = service
      .call("POST", "/api/inventory/notification-channels/test", channel)
      .then((response) => response.json(), toError);
    await connected;
    await service.end("SIGTERM");
    expect(await answered).toMatchObject({ ok: false, message: "The test was canceled." });
    expect(service.child.exitCode).toBe(0);
    expect(service.output()).not.toContain('"level":50');
  });
});

describe.skipIf(!hasPostgresServer)("A start", () => {
  test("waits for a database that is slow to take connections, and says so", async () => {
    const folder = await realpath(await makeMemoryFolder("quarterdeck-start-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const server = await startPostgresServer();
    onTestFinished(() => server.stop());
    await server.createDatabase("own");
    // Longer than a request waits, first for a connection of the migrations and then for one of the service itself.
    const link = await startCuttableLink(server.port, (number) =>
      [2, 4].includes(number) ? 5500 : 0,
    );
    onTestFinished(() => link.close());
    const url = new URL(server.url("own"));
    url.port = String(link.port);
    url.search = "sslmode=disable";
    const service = await startService(folder, { DATABASE_URL: url.href });
    onTestFinished(() => service.end("SIGKILL"));
    expect(service.output()).toContain("waiting for the database");
  });
});

describe.skipIf(!hasPostgresServer)("SIGTERM", () => {
  let folder: string;
  let server: PostgresServer;
  let link: CuttableLink;
  let service: ServiceProcess;
  beforeAll(async () => {
    folder = await realpath(await makeMemoryFolder("quarterdeck-stop-"));
    server = await startPostgresServer();
    await server.createDatabase("own");
    link = await startCuttableLink(server.port);
    const url = new URL(server.url("own"));
    url.port = String(link.port);
    service = await startService(folder, { DATABASE_URL: url.href });
  });
  afterAll(async () => {
    await service.end("SIGKILL");
    await link.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("stops a service with a hanging database, and says so", async () => {
    link.silence();
    // Load balancers do not wait as long as a query may.
    const ready = await fetch(`${service.url}/readyz`, { signal: AbortSignal.timeout(20_000) });
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({
      message: "The database has not responded for 5 seconds.",
    });
    await service.end("SIGTERM");
    expect(service.child.exitCode).toBe(1);
    expect(service.output()).toContain("a part of the service did not stop in order");
  });
});
