// Creates the large seed's workers, webhooks, channels, configurations and backups over HTTP. Each step checks what exists, so
// that an interrupted seed continues where it ended.
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import type { Webhook } from "../../../contract/webhooks/webhook.ts";
import type { Worker } from "../../../contract/workers/worker.ts";
import type { SeedClient } from "./client.ts";
import { largePlan as plan } from "./large-plan.ts";
import { sitesFolder } from "./write-files.ts";

type FillOptions = {
  client: SeedClient;
  dataFolder: string;
  /** Base URL of the receiver, without a trailing slash. */
  receiver: string;
  say(line: string): void;
};

const workerDefaults = {
  max_jobs: 0,
  max_time: 0,
  force: false,
  memory: 128,
  sleep: 3,
  timeout: 60,
  tries: 3,
};

export async function fill({ client, dataFolder, receiver, say }: FillOptions): Promise<void> {
  say("Webhooks and channels…");
  await makeWebhooks(client, receiver);
  await chooseChannels(client);
  // Before the workers, so that they run the deployed version.
  for (const site of plan.deployments)
    await client.send("POST", `/api/site/${site}/deployment`, {
      status: site === plan.failedDeployment ? "failed" : "finished",
      branch: "main",
    });
  say("60 workers…");
  await makeWorkers(client);
  say("41 backup configurations and their first runs; this takes a minute or two…");
  await makeConfigurations(client);
  await runAll(client, ({ backups }, runs) => runs - backups.length);
  await loseFolders(client, dataFolder);
}

async function makeWebhooks(client: SeedClient, receiver: string): Promise<void> {
  for (const { site, path } of plan.webhooks) {
    const url = receiver + path;
    const known = await client.list<Webhook>(`/api/site/${site}/webhooks`);
    if (!known.some((webhook) => webhook.url === url))
      await client.send("POST", `/api/site/${site}/webhook`, { url });
  }
}

async function chooseChannels(client: SeedClient): Promise<void> {
  for (const { id } of plan.sites)
    await client.send("PUT", `/api/site/${id}/notifications`, { channels: plan.channelsOf(id) });
}

async function makeWorkers(client: SeedClient): Promise<void> {
  const made: Worker[] = [];
  for (const [site, workers] of Map.groupBy(plan.workers, (worker) => worker.site)) {
    const known = await client.list<Worker>(`/api/site/${site}/workers`);
    for (const { connection, queue, processes } of workers) {
      const isSame = (one: Worker) => one.connection === connection && one.queue === queue;
      const isUnstable = plan.crashLoop.site === site && plan.crashLoop.queue === queue;
      const body = {
        ...workerDefaults,
        connection,
        queue,
        processes,
        startretries: 1,
        startsecs: isUnstable ? 0 : 1,
      };
      const worker =
        known.find(isSame) ?? (await client.send("POST", `/api/site/${site}/worker`, body));
      // The API responds 201 with the worker.
      made.push(worker as Worker);
    }
  }
  for (const place of plan.stoppedWorkers) {
    const worker = made[place];
    if (worker !== undefined) await stop(client, worker.id);
  }
}

/** Stops a worker, after waiting until it is installed. */
async function stop(client: SeedClient, id: number): Promise<void> {
  for (;;) {
    // The API responds 200 with the worker.
    const worker = (await client.send("GET", `/api/worker/${id}`)) as Worker;
    if (worker.status !== "installing") break;
    await wait(500);
  }
  await client.send("DELETE", `/api/worker/${id}/stop`);
}

const configurationsOf = (client: SeedClient, server: number) =>
  client.list<BackupConfiguration>(`/api/server/${server}/backups`);

async function makeConfigurations(client: SeedClient): Promise<void> {
  for (const [server, planned] of Map.groupBy(plan.configurations, (one) => one.server)) {
    const known = await configurationsOf(client, server);
    for (const { name, type, id, storage, frequency } of planned)
      if (!known.some((one) => one.type === type && one.backupable.id === id))
        await client.send("POST", `/api/server/${server}/backup-configuration`, {
          name,
          frequency,
          storage_provider_id: storage,
          backupable_type: type,
          backupable_id: id,
        });
  }
}

/**
 * Starts the missing runs, server by server, so that the machine stays usable.
 * @param missing returns how many runs a configuration still needs
 */
async function runAll(
  client: SeedClient,
  missing: (configuration: BackupConfiguration, runs: number) => number,
): Promise<void> {
  for (const [server, planned] of Map.groupBy(plan.configurations, (one) => one.server))
    for (;;) {
      const known = await configurationsOf(client, server);
      const isMoving = known.some(
        ({ status, last_backup }) =>
          status === "installing" || /^(pending|running)$/.test(last_backup?.status ?? ""),
      );
      const next = known.filter((configuration) => {
        const { type, backupable, status } = configuration;
        const one = planned.find((each) => each.type === type && each.id === backupable.id);
        return status === "installed" && missing(configuration, one?.runs ?? 0) > 0;
      });
      if (!isMoving && next.length === 0) break;
      if (!isMoving) for (const { id } of next) await client.send("POST", `/api/backup/${id}`);
      await wait(1000);
    }
}

/** Makes the newest run of these sites fail, after an earlier one was good. */
async function loseFolders(client: SeedClient, dataFolder: string): Promise<void> {
  for (const id of plan.lostSites) {
    const name = plan.sites.find((site) => site.id === id)?.name ?? "";
    const root = join(sitesFolder(dataFolder), name);
    // An interrupted seed may have moved it already.
    await rename(root, `${root}.moved`).catch(() => undefined);
  }
  await runAll(client, ({ type, backupable, backups }) =>
    type === "site" && plan.lostSites.includes(backupable.id) ? 2 - backups.length : 0,
  );
}
