import { realpath, rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "./backups/testing/postgres-server.ts";
import { startCuttableLink, type CuttableLink } from "./testing/cuttable-link.ts";
import { makeMemoryFolder } from "./testing/memory-folder.ts";
import { startService, type ServiceProcess } from "./testing/service-process.ts";

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

  test("ends a service whose database fell silent, and says so", { timeout: 60_000 }, async () => {
    link.silence();
    await service.end("SIGTERM");
    expect(service.child.exitCode).toBe(1);
    expect(service.output()).toContain("a part of the service did not stop in order");
  });
});
