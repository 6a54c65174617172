// The service with the large seed: 13 servers, 80 sites, 60 workers, 41 backup configurations.
import { chmod, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildDashboard } from "../server/setup/build.ts";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import { freePort } from "../server/testing/free-port.ts";

export type LargeService = ServiceProcess & { stop(): Promise<void> };

const seedingMs = 10 * 60_000;

export async function startLargeService(): Promise<LargeService> {
  await buildDashboard();
  const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-bench-")));
  // When run as root, the database runs as another account, which needs access to its folder.
  await chmod(folder, 0o711);
  const program = fileURLToPath(new URL("../server/setup/start.mjs", import.meta.url));
  const service = await startService(folder, { PORT: String(await freePort()) }, [
    program,
    "--seed",
    "large",
  ]);
  const isReady = () => service.output().includes("The large seed is ready.");
  for (let waitedMs = 0; !isReady() && waitedMs < seedingMs; waitedMs += 500) await wait(500);
  if (!isReady()) throw new Error(`The large seed was not made:\n${service.output()}`);
  return {
    ...service,
    async stop() {
      await service.end("SIGINT");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
