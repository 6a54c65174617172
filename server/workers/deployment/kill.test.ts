// The service is killed right after it has accepted a deployment.
import { readFileSync } from "node:fs";
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Worker } from "../../../contract/workers/worker.ts";
import { makeMemoryFolder } from "../../testing/memory-folder.ts";
import { endsWhenAsked } from "../../testing/artisan.ts";
import { createTestDatabase } from "../../testing/database.ts";
import { makeRandom, makeSeed } from "../../testing/random.ts";
import { databaseUrl, oneSite } from "../../testing/service.ts";
import { startService } from "../../testing/service-process.ts";
import { workerBody } from "../../testing/worker-body.ts";
import { supportsAdoption } from "../supervisor/process-table.ts";
import { soon } from "../../testing/soon.ts";

const rounds = Number(process.env["DEPLOYMENT_KILLS"] ?? 1);
const seed = makeSeed();

test.skipIf(!supportsAdoption)(
  `over ${rounds} kills right after the response each deployment restarts each process once (CRASH_SEED=${seed})`,
  { timeout: 60_000 + rounds * 30_000 },
  async () => {
    const random = makeRandom(seed);
    const database = await createTestDatabase();
    onTestFinished(() => database.close());
    const folder = await realpath(await makeMemoryFolder("quarterdeck-deployments-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const starts = join(folder, "shop/starts");
    await mkdir(join(folder, "shop"));
    await writeFile(
      join(folder, "shop/artisan"),
      `echo $QUARTERDECK_WORKER >> starts; ${endsWhenAsked()}`,
    );
    await writeFile(join(folder, "inventory.yaml"), oneSite(folder));
    const environment = { DATABASE_URL: databaseUrl(String(database.connection.database)) };
    let service = await startService(folder, environment);
    onTestFinished(() => service.end("SIGINT"));
    const look = async (): Promise<Worker> => (await service.call("GET", "/api/worker/1")).json();

    await service.call("POST", "/api/site/1/worker", { ...workerBody, processes: 3, startsecs: 1 });
    await soon(async () => expect((await look()).status).toBe("installed"));

    for (let round = 1; round <= rounds; round++) {
      const report = { status: "finished", restart_workers: true };
      const answer = await service.call("POST", "/api/site/1/deployment", report);
      const { id }: { id: number } = await answer.json();
      // The first kill comes at once, the others at random times of the restart.
      if (round > 1) await wait(random() * 500);
      await service.end("SIGKILL");
      service = await startService(folder, environment);
      await soon(async () => {
        const worker = await look();
        expect(worker.status).toBe("installed");
        expect(worker.process_list?.map((process) => process.deployment_id)).toEqual([id, id, id]);
      });
      expect(readFileSync(starts, "utf8").trim().split("\n")).toHaveLength(3 + 3 * round);
    }
  },
);
