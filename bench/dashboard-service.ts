// A service with data for the dashboard: 20 backup configurations on one server, and a worker whose log has 1,000
// lines.
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { BackupConfiguration } from "../contract/backups/backup.ts";
import { buildDashboard } from "../server/setup/build.ts";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import { workerBody } from "../server/testing/worker-body.ts";
import { ownUser } from "../server/testing/own-user.ts";

const configurationCount = 20;
export const logLineCount = 1_000;

export type DashboardService = ServiceProcess & {
  configurations: readonly BackupConfiguration[];
  workerId: number;
  stop(): Promise<void>;
};

const inventory = (folder: string) => `
servers: [{ id: 1, name: web-1, connection: local }]
sites: [{ id: 1, server: 1, name: shop.example.com, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }]
storage_providers: [{ id: 1, name: disk, type: local, path: ${folder}/copies }]
`;

/** Prints its lines once, and nothing later that would be rendered during a measurement. */
const artisan = `i=0; while [ $i -lt ${logLineCount} ]; do i=$((i+1)); echo "[$i] Processed App\\\\Jobs\\\\SendReceipt in $((i % 97)) ms"; done
trap 'exit 0' TERM; while :; do sleep 0.2; done`;

async function read<Value>(service: ServiceProcess, path: string): Promise<Value> {
  return (await service.call("GET", path)).json();
}

async function create<Value>(service: ServiceProcess, path: string, body: object): Promise<Value> {
  const response = await service.call("POST", path, body);
  if (!response.ok) throw new Error(`${path} answered ${response.status}.`);
  return response.json();
}

export async function startDashboardService(): Promise<DashboardService> {
  await buildDashboard();
  const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-bench-")));
  // When run as root, the database runs as another account, which needs access to its folder.
  await chmod(folder, 0o711);
  for (const name of ["shop", "copies"]) await mkdir(join(folder, name));
  await writeFile(join(folder, "shop/index.html"), "<h1>Shop</h1>\n");
  await writeFile(join(folder, "shop/artisan"), artisan);
  await writeFile(join(folder, "inventory.yaml"), inventory(folder));
  const service = await startService(folder, {
    QUARTERDECK_INVENTORY: join(folder, "inventory.yaml"),
  });
  for (let count = 1; count <= configurationCount; count++)
    await create(service, "/api/server/1/backup-configuration", {
      name: `Shop ${count}`,
      frequency: `${count} 2 * * *`,
      storage_provider_id: 1,
      backupable_type: "site",
      backupable_id: 1,
    });
  const { id: workerId } = await create<{ id: number }>(service, "/api/site/1/worker", workerBody);
  return {
    ...service,
    configurations: await installedConfigurations(service),
    workerId,
    async stop() {
      await service.end("SIGINT");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until nothing on the list is in transit, so that it does not change during a measurement. */
async function installedConfigurations(
  service: ServiceProcess,
): Promise<readonly BackupConfiguration[]> {
  for (let tries = 0; tries < 600; tries++) {
    const { data } = await read<{ data: BackupConfiguration[] }>(service, "/api/server/1/backups");
    if (data.every(({ status }) => status === "installed")) return data;
    await wait(100);
  }
  throw new Error("The configurations were not installed within a minute.");
}
