import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createTestService } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import type { WorkerUsage } from "../../contract/workers/usage.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { readGroups } from "./supervisor/group-usage.ts";
import { supportsAdoption } from "./supervisor/process-table.ts";
import { makeSupervisor, programOf, shell, soon } from "./supervisor/testing/supervisor.ts";
import { createUsageHistory } from "./supervisor/usage-history.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };

test.skipIf(!supportsAdoption)(
  "measures a process with its descendants, and deletes samples older than an hour",
  async ({ onTestFinished }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    // A child of the leader uses the CPU and 32 MiB of memory.
    const work = "head -c 33554432 /dev/zero | tail -c 33554432 > /dev/null; while :; do :; done";
    supervisor.start(programOf(1, { args: shell(`sh -c '${work}' & wait`) }));
    await expect.poll(() => supervisor.state(1), soon).toBe("RUNNING");
    const pid = supervisor.processes(1)[0]?.pid ?? 0;

    const clock = createFakeClock();
    const usage = createUsageHistory({
      // The second one represents a process that an earlier run of the service started.
      running: () => [
        { worker: 1, number: 1, pid },
        { worker: 2, number: 1, pid },
      ],
      clock,
      log: silent,
    });
    usage.noteStart(1, 1);
    usage.start();
    clock.advance(15_000);
    expect(usage.of(1, 1).samples).toEqual([]);
    const ticks = () =>
      [
        ...(readGroups(new Set([pid]))
          .get(pid)
          ?.ticks.values() ?? []),
      ].reduce((a, b) => a + b, 0);
    const from = ticks();
    await expect.poll(() => ticks() - from, soon).toBeGreaterThan(20);
    clock.advance(15_000);
    const [sample] = usage.of(1, 1).samples;
    // At least 20 hundredths of a second in 15 seconds.
    expect(sample?.cpu).toBeGreaterThan(1);
    expect(sample?.memory).toBeGreaterThan(500_000);
    expect(usage.of(1, 1).starts).toHaveLength(1);
    expect(usage.of(2, 1)).toMatchObject({ starts: [], samples: [sample] });

    await supervisor.stop(1);
    // Its killed child may exist a moment longer.
    await expect.poll(() => readGroups(new Set([pid])).size, soon).toBe(0);
    clock.advance(3600_000);
    expect(usage.of(1, 1)).toEqual({ starts: [], samples: [] });
    usage.stop();
  },
);

test("lists the usage of each of a worker's processes, and answers 404 for an unknown worker", async ({
  onTestFinished,
}) => {
  const service = await createTestService();
  onTestFinished(() => service.close());
  await writeFile(join(service.folder, "shop/artisan"), "exec sleep 300");
  const made = await service.json<Worker>("POST", "/api/site/1/worker", {
    ...workerBody,
    processes: 2,
  });
  const { id } = made.body;
  await vi.waitFor(
    async () => {
      const { status, body } = await service.json<WorkerUsage>("GET", `/api/worker/${id}/usage`);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        every: 15,
        processes: [
          { number: 1, starts: [expect.any(String)], samples: [] },
          { number: 2, starts: [expect.any(String)], samples: [] },
        ],
      });
    },
    { timeout: 60_000 },
  );
  expect((await service.call("GET", `/api/worker/${id + 1}/usage`)).status).toBe(404);
});
