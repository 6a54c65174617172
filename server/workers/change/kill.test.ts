// The service is killed while it replaces a worker's processes after a change of its settings.
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

const rounds = Number(process.env["CHANGE_KILLS"] ?? 1);
const seed = makeSeed();

test.skipIf(!supportsAdoption)(
  `over ${rounds} kills in the middle each change is completed, and one that cannot start is reverted (CRASH_SEED=${seed})`,
  { timeout: 90_000 + rounds * 60_000 },
  async () => {
    const random = makeRandom(seed);
    const database = await createTestDatabase();
    onTestFinished(() => database.close());
    const folder = await realpath(await makeMemoryFolder("quarterdeck-changes-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await mkdir(join(folder, "shop"));
    await writeFile(
      join(folder, "shop/artisan"),
      `case "$3" in *bad*) exit 1;; esac; echo "$3" >> starts; ${endsWhenAsked()}`,
    );
    await writeFile(join(folder, "inventory.yaml"), oneSite(folder));
    const environment = { DATABASE_URL: databaseUrl(String(database.connection.database)) };
    let service = await startService(folder, environment);
    onTestFinished(() => service.end("SIGINT"));
    const look = async (): Promise<Worker> => (await service.call("GET", "/api/worker/1")).json();
    const starts = (queue: string) =>
      readFileSync(join(folder, "shop/starts"), "utf8")
        .split("\n")
        .filter((line) => line === `--queue=${queue}`).length;
    const killDuring = async (change: object) => {
      expect((await service.call("PUT", "/api/worker/1", change)).status).toBe(200);
      await wait(random() * 3000);
      await service.end("SIGKILL");
      service = await startService(folder, environment);
      return soon(async () => {
        const worker = await look();
        expect(worker).toMatchObject({ status: "installed", is_changing: false });
        return worker;
      });
    };

    await service.call("POST", "/api/site/1/worker", { ...workerBody, processes: 3, startsecs: 1 });
    await soon(async () => expect((await look()).status).toBe("installed"));

    let kept = "default";
    for (let round = 1; round <= rounds; round++) {
      const queue = `queue-${round}`;
      // In turns more and fewer processes than before.
      const processes = 2 + ((round * 2) % 3);
      const changed = await killDuring({ queue, processes });
      expect(changed).toMatchObject({ queue, processes });
      expect(changed.process_list).toHaveLength(processes);
      // On a busy machine a process may be up for its start seconds before it has recorded its start.
      await soon(() => expect(starts(queue)).toBe(processes));
      kept = queue;

      const { process_list: list = [] } = changed;
      const undone = await killDuring({ queue: "bad" });
      expect(undone).toMatchObject({ queue: kept, processes });
      // Only the first process was replaced.
      expect(undone.process_list?.slice(1).map(({ pid }) => pid)).toEqual(
        list.slice(1).map(({ pid }) => pid),
      );
    }
  },
);
