// Workers whose processes exit and are started again: exits because of a limit are normal, crash loops are reported.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, test, vi, type TestContext } from "vitest";
import type { Activity } from "../../../contract/activity.ts";
import type { Page } from "../../../contract/paging.ts";
import type { DeliverySummary } from "../../../contract/webhooks/delivery.ts";
import type { Worker } from "../../../contract/workers/worker.ts";
import { createApp } from "../../app.ts";
import { createShiftedClock } from "../../testing/shifted-clock.ts";
import { patientArtisan } from "../../testing/artisan.ts";
import { sendSignal } from "../../testing/signals.ts";
import type { TestService } from "../../testing/service.ts";
import { workerBody } from "../../testing/worker-body.ts";
import { eachWorkerMachine, readNumber, type WorkerMachine } from "../testing/each-machine.ts";
import { soon } from "../../testing/soon.ts";

vi.setConfig({ testTimeout: 300_000 });
const minuteMs = 60_000;
const ends = (worker: Worker) =>
  (worker.process_list ?? []).reduce((sum, { restarts }) => sum + restarts, 0);
async function makeService(
  { createService }: WorkerMachine,
  onTestFinished: TestContext["onTestFinished"],
) {
  const clock = createShiftedClock();
  const service = await createService({ clock });
  onTestFinished(() => service.close());
  const artisan = (script: string) => writeFile(join(service.folder, "shop/artisan"), script);
  const create = async (change: object): Promise<number> => {
    const body = { ...workerBody, startsecs: 1, startretries: 0, stopwaitsecs: 0, ...change };
    return (await service.json<Worker>("POST", "/api/site/1/worker", body)).body.id;
  };
  const show = async (id: number) => (await service.json<Worker>("GET", `/api/worker/${id}`)).body;
  const actions = async () =>
    (await service.json<Activity>("GET", "/api/activity?kind=worker")).body.data
      .map(({ action }) => action)
      .toReversed();

  /** Polls a worker until its processes have ended `count` times, and returns each status that it had. */
  async function watchUntilEnded(id: number, count: number): Promise<Set<string>> {
    const seen = new Set<string>();
    await soon(async () => {
      const worker = await show(id);
      seen.add(worker.status);
      expect(ends(worker)).toBeGreaterThanOrEqual(count);
    });
    return seen;
  }

  const untilLoop = (id: number) =>
    soon(async () => {
      const now = await show(id);
      expect(now.crash_loop).not.toBeNull();
      return now;
    });

  return { clock, service, artisan, create, show, untilLoop, actions, watchUntilEnded };
}

/** @returns reads the events of workers that a webhook was sent, newest first */
async function sentOf(service: TestService): Promise<() => Promise<string[]>> {
  const url = "http://127.0.0.1:1/hook";
  const { body: hook } = await service.json<{ id: number }>("POST", "/api/site/1/webhook", { url });
  return async () => {
    const path = `/api/site-webhook/${hook.id}/deliveries`;
    const { data } = (await service.json<Page<DeliverySummary>>("GET", path)).body;
    return data.map(({ event }) => event).filter((event) => event.startsWith("worker."));
  };
}

// Exits are judged in the same way on each machine, so the remote server is only tested in the long form.
const machines = eachWorkerMachine().filter(({ isWhole }) => isWhole);
describe.each(machines)("on $machine", (machine) => {
  test.concurrent("reports a crash loop at its start and at its end, once each, also over a restart of the service", async ({
    onTestFinished,
  }) => {
    const { clock, service, artisan, create, show, untilLoop, actions } = await makeService(
      machine,
      onTestFinished,
    );
    const sent = await sentOf(service);
    await artisan("sleep 0.2; exit 0");
    const id = await create({ startsecs: 0 });
    const worker = await untilLoop(id);
    expect(worker.status).not.toBe("failed");
    expect(worker.crash_loop?.reason).toBe(
      "Process 1 exited at least 5 times in 10 minutes. Most recently: Exited with code 0.",
    );
    await soon(async () => expect(await sent()).toEqual(["worker.crash_looping"]));
    const metrics = async () => (await service.call("GET", "/metrics")).text();
    // A response lacks these metrics if a query times out.
    await soon(async () =>
      expect(await metrics()).toContain("quarterdeck_workers_crash_looping 1"),
    );

    await service.app.close("keep");
    const again = await createApp(service.options);
    // Further requests go to the restarted service.
    service.app.fetch = again.fetch;
    service.app.close = again.close;
    expect((await show(id)).crash_loop?.since).toBe(worker.crash_loop?.since);

    await artisan(patientArtisan);
    await soon(async () => expect((await show(id)).status).toBe("installed"));
    clock.ahead(9 * minuteMs);
    expect((await show(id)).crash_loop).not.toBeNull();
    await soon(async () => {
      clock.ahead(minuteMs);
      expect((await show(id)).crash_loop).toBeNull();
    });
    await soon(async () => expect(await sent()).toEqual(["worker.stable", "worker.crash_looping"]));
    expect(await actions()).toEqual(expect.arrayContaining(["crash-looping", "stable again"]));
  });

  test.concurrent("a start, restart or change begins a new count of exits, and the end of the loop is reported later", async ({
    onTestFinished,
  }) => {
    const { clock, service, artisan, create, show, untilLoop } = await makeService(
      machine,
      onTestFinished,
    );
    const sent = await sentOf(service);
    const looping = async () => {
      const filtered = "/api/site/1/workers?filter[status]=crash_looping";
      const { body } = await service.json<Page<Worker>>("GET", filtered);
      return [body.data.length, (await show(id)).crash_loop];
    };
    const becomes = (status: Worker["status"]) =>
      soon(async () => expect((await show(id)).status).toBe(status));
    const isUpWithoutLoop = async () => {
      await becomes("installed");
      expect(await looping()).toEqual([0, null]);
    };
    await artisan("sleep 0.2; exit 1");
    const id = await create({ startsecs: 0 });
    await untilLoop(id);
    await soon(async () => expect(await sent()).toEqual(["worker.crash_looping"]));

    await service.call("DELETE", `/api/worker/${id}/stop`);
    await becomes("stopped");
    await artisan(patientArtisan);
    await service.call("POST", `/api/worker/${id}/start`);
    await isUpWithoutLoop();

    // It was not mended after all.
    await artisan("sleep 0.2; exit 2");
    await service.call("PUT", `/api/worker/${id}/restart`);
    const again = await untilLoop(id);
    expect(again.crash_loop?.reason).toContain("Exited with code 2.");
    await artisan(patientArtisan);
    await service.call("PUT", `/api/worker/${id}`, { memory: 256 });
    await isUpWithoutLoop();

    await service.app.close("keep");
    const next = await createApp(service.options);
    service.app.fetch = next.fetch;
    service.app.close = next.close;
    await isUpWithoutLoop();
    expect(await sent()).toEqual(["worker.crash_looping"]);
    await soon(async () => {
      clock.ahead(minuteMs);
      expect(await sent()).toEqual(["worker.stable", "worker.crash_looping"]);
    });
    expect(await looping()).toEqual([0, null]);
  });

  test.concurrent("exits before a start that was ordered do not add to those after it", async ({
    onTestFinished,
  }) => {
    const { service, artisan, create, show, untilLoop } = await makeService(
      machine,
      onTestFinished,
    );
    const sent = await sentOf(service);
    const becomes = (id: number, status: Worker["status"]) =>
      soon(async () => expect((await show(id)).status).toBe(status));
    await artisan("exit 1");
    // On a busy machine even this exit may take a second, and would not count as a failed start.
    const id = await create({ startretries: 3, startsecs: 5 });
    await becomes(id, "failed");
    await artisan(`mkdir once && exit 1\n${patientArtisan}`);
    await service.call("POST", `/api/worker/${id}/start`);
    await becomes(id, "installed");
    // Whoever looks at this one has looked at the other.
    await artisan("sleep 0.2; exit 1");
    const looping = await create({ startsecs: 0 });
    await untilLoop(looping);
    expect((await show(id)).crash_loop).toBeNull();
    await soon(async () =>
      expect(await sent()).toEqual(["worker.crash_looping", "worker.recovered", "worker.failed"]),
    );
  });

  test.concurrent("a crash loop is reported although the clock was set back after a restart", async ({
    onTestFinished,
  }) => {
    const { clock, service, artisan, create, show, untilLoop } = await makeService(
      machine,
      onTestFinished,
    );
    const isUp = (id: number) =>
      soon(async () => {
        const worker = await show(id);
        expect(worker.status).toBe("installed");
        return worker.process_list?.[0]?.pid ?? 0;
      });
    const id = await create({ startsecs: 0 });
    await isUp(id);
    await service.call("PUT", `/api/worker/${id}/restart`);
    const pid = await isUp(id);
    clock.ahead(-120 * minuteMs);
    await artisan("exit 1");
    sendSignal(pid, "SIGKILL");
    expect((await untilLoop(id)).crash_loop?.reason).toContain("exited at least 5 times");
  });

  test.concurrent("a busy worker whose processes exit after max_jobs counts as up all the time, and nobody is notified", async ({
    onTestFinished,
  }) => {
    const { clock, artisan, create, show, actions, watchUntilEnded } = await makeService(
      machine,
      onTestFinished,
    );
    // The processes start together and drift apart, so that rarely all of them have been up for their start seconds.
    await artisan(`${readNumber}; sleep 1.$((5 + $number % 4)); exit 0`);
    const id = await create({ processes: 6, max_jobs: 6 });
    await soon(async () => expect((await show(id)).status).toBe("installed"));
    const seen = await watchUntilEnded(id, 12);
    // After every deadline.
    clock.ahead(5 * minuteMs);
    for (const status of await watchUntilEnded(id, 18)) seen.add(status);
    expect([...seen]).toEqual(["installed"]);
    expect(await show(id)).toMatchObject({ status_reason: null, crash_loop: null });
    expect(await actions()).toEqual(["created", "up"]);
  });

  test.concurrent("a worker whose processes exit with 0 for no reason does not fail, and is crash-looping", async ({
    onTestFinished,
  }) => {
    const { service, artisan, create, show, actions, watchUntilEnded } = await makeService(
      machine,
      onTestFinished,
    );
    await artisan(`${readNumber}; sleep 1.$((3 + $number % 4)); exit 0`);
    const id = await create({ processes: 4 });
    const seen = await watchUntilEnded(id, 4);
    // All processes are rarely up at once, so that a deadline passes sooner or later. The test makes it pass now, once each process
    // has been up.
    await soon(async () => {
      for (const { restarts } of (await show(id)).process_list ?? [])
        expect(restarts).toBeGreaterThanOrEqual(1);
    });
    const client = new pg.Client(service.connection);
    await client.connect();
    const passed = await soon(async () => {
      const { rowCount } = await client.query(
        `update workers set deadline_at = now(), status_since = now() - interval '1 hour'
        where status = 'restarting'`,
      );
      expect(rowCount).toBe(1);
      return rowCount;
    });
    await client.end();
    expect(passed).toBe(1);
    for (const status of await watchUntilEnded(id, 10)) seen.add(status);
    expect(seen).not.toContain("failed");
    await soon(async () => expect((await show(id)).crash_loop).not.toBeNull());
    expect(await actions()).not.toContain("failed");
  });
});
