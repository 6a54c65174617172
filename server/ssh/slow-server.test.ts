// A slow server must not count as unreachable.
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { userInfo } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import type { Server, ServerStatus, Site } from "../../contract/servers.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { createBackupTestService, soon } from "../backups/testing/backup-service.ts";
import { ownUser } from "../testing/own-user.ts";
import { signalGroup } from "../testing/signals.ts";
import { workerBody } from "../testing/worker-body.ts";
import { startSupervisord } from "../workers/supervisord/testing/supervisord.ts";
import { sshEntry } from "./testing/entry.ts";
import { startSlowLink } from "./testing/slow-link.ts";
import { startSshd } from "./testing/sshd.ts";

const delayMs = 300;
const siteBytes = 500_000;
const far = 3;

const pidOf = ({ process_list: list = [] }: Worker) => list[0]?.pid ?? undefined;

test("a server behind a slow link stays reachable, with its latency, its workers and its backups", async () => {
  const sshd = await startSshd();
  const supervisord = await startSupervisord();
  onTestFinished(() => supervisord.close());
  const port = await startSlowLink({ port: sshd.port, delayMs, bytesPerSecond: 64_000 });
  const connection = sshEntry({ ...sshd, port }, undefined, userInfo().username);
  const service = await createBackupTestService(
    {},
    {
      servers: `  - { id: ${far}, name: far, connection: ${connection}, supervisord_config: ${supervisord.config} }`,
      sites: (folder) =>
        `  - { id: 9, server: ${far}, name: far, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }`,
    },
  );
  onTestFinished(() => service.close());
  await writeFile(join(service.folder, "shop/pages"), randomBytes(siteBytes));

  const timesAway: object[] = [];
  const becomes = <Body extends object>(path: string, wanted: Partial<Body>): Promise<Body> =>
    soon(async () => {
      const { body } = await service.json<Body>("GET", path);
      if ("reachable" in body && body.reachable === false) timesAway.push(body);
      if ("status" in body && body.status === "unreachable") timesAway.push(body);
      expect(body).toMatchObject(wanted);
      return body;
    });

  await becomes<Server>(`/api/server/${far}`, { reachable: true });
  // Finding the account of a site takes several commands there, and must be done by now.
  const { body: site } = await service.json<Site>("GET", "/api/site/9");
  expect(site.account).toBe(ownUser);
  const { latency } = await becomes<ServerStatus>(`/api/server/${far}/status`, {
    facts: expect.objectContaining({ processors: expect.any(Number) }),
  });
  expect(latency).toBeGreaterThanOrEqual(2 * delayMs);

  const { body: worker } = await service.json<Worker>("POST", "/api/site/9/worker", workerBody);
  const path = `/api/worker/${worker.id}`;
  const first = pidOf(await becomes<Worker>(path, { status: "installed" }));

  const { body: configuration } = await service.json<BackupConfiguration>(
    "POST",
    `/api/server/${far}/backup-configuration`,
    {
      name: "Far",
      frequency: "30 2 * * *",
      storage_provider_id: 1,
      backupable_type: "site",
      backupable_id: 9,
    },
  );
  await soon(async () => expect((await service.show(configuration.id)).status).toBe("installed"));
  const running = service.run(configuration.id);
  // While the transfer uses the whole bandwidth, its state must still be shown.
  await soon(async () =>
    expect((await service.show(configuration.id)).last_backup?.status).toBe("running"),
  );
  signalGroup(first, "SIGKILL");
  await soon(async () => expect(pidOf(await becomes<Worker>(path, {}))).not.toBe(first));
  await becomes<Worker>(path, { status: "installed" });
  const backup = await running;
  expect(backup.status, backup.output).toBe("finished");
  expect(backup.size).toBeGreaterThan(siteBytes);

  await becomes<Server>(`/api/server/${far}`, { reachable: true });
  expect(timesAway).toEqual([]);
  expect(await service.query("select type from events where type like 'server.%'")).toEqual([]);
}, 180_000);
