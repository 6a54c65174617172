// Orders to workers whose supervisord does not respond: each waits, is shown, and is carried out or withdrawn.
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Activity } from "../../../contract/activity.ts";
import type { Worker, WorkerState } from "../../../contract/workers/worker.ts";
import { createApp } from "../../app.ts";
import { patientArtisan } from "../../testing/artisan.ts";
import { inLongForm } from "../../testing/long-form.ts";
import type { TestService } from "../../testing/service.ts";
import { sendSignal, signalGroup } from "../../testing/signals.ts";
import { workerBody } from "../../testing/worker-body.ts";
import { createSupervisedService, removeAllWorkers, workerBecomes } from "./testing/service.ts";
import { startSupervisord, type TestSupervisord } from "./testing/supervisord.ts";
import { soon } from "../../testing/soon.ts";

let supervisord: TestSupervisord;
let service: TestService;
beforeAll(async () => {
  supervisord = await startSupervisord();
  service = await createSupervisedService(supervisord);
});
afterEach(async () => {
  sendSignal(supervisord.pid(), "SIGCONT");
  await removeAllWorkers(service);
});
afterAll(async () => {
  await service?.close();
  await supervisord?.close();
});

const show = async (id: number) => (await service.json<Worker>("GET", `/api/worker/${id}`)).body;
const becomes = (id: number, wanted: Partial<Worker>) => workerBecomes(service, id, wanted);
const isGone = (id: number) =>
  soon(
    async () => expect((await service.call("GET", `/api/worker/${id}`)).status).toBe(404),
    90_000,
  );
const pids = ({ process_list: list = [] }: Worker) => list.flatMap(({ pid }) => pid ?? []);
const create = async () => {
  // Its deadline passes before supervisord can be known not to respond.
  const body = { ...workerBody, stopwaitsecs: 1, startretries: 0 };
  const { body: made } = await service.json<Worker>("POST", "/api/site/1/worker", body);
  return becomes(made.id, { status: "installed" });
};
async function createStopped(): Promise<Worker> {
  const { id } = await create();
  await service.call("DELETE", `/api/worker/${id}/stop`);
  return becomes(id, { status: "stopped" });
}

/** Returns what workers have there: their groups, program files and logs. */
async function left(): Promise<string[]> {
  const groups = JSON.stringify(await supervisord.call("getAllProcessInfo"));
  const files = await readdir(supervisord.folder, { recursive: true });
  return [
    ...[...groups.matchAll(/"group":"([^"]+)"/g)].flatMap(([, group = ""]) => group),
    ...files.filter((name) => /quarterdeck-\w+-\d+\.|worker-/.test(name)),
  ].sort();
}

type Case = {
  make: () => Promise<Worker>;
  order: [method: string, path: string, body?: object];
  last: WorkerState;
  pending: WorkerState;
  /** The expected worker afterwards; null = it is deleted. */
  end: Partial<Worker> | null;
};

const cases: readonly Case[] = [
  {
    make: createStopped,
    order: ["POST", "/start"],
    last: "stopped",
    pending: "starting",
    end: { status: "installed" },
  },
  {
    make: create,
    order: ["DELETE", "/stop"],
    last: "installed",
    pending: "stopping",
    end: { status: "stopped" },
  },
  {
    make: create,
    order: ["PUT", "/restart"],
    last: "installed",
    pending: "restarting",
    end: { status: "installed" },
  },
  {
    make: create,
    order: ["PUT", "", { processes: 2, queue: "other" }],
    last: "installed",
    pending: "restarting",
    end: { status: "installed", processes: 2, queue: "other", is_changing: false },
  },
  { make: create, order: ["DELETE", ""], last: "installed", pending: "removing", end: null },
  { make: createStopped, order: ["DELETE", ""], last: "stopped", pending: "removing", end: null },
];

const giveAll = (workers: readonly Worker[]) =>
  Promise.all(
    cases.map(async ({ order: [method, path, body] }, index) => {
      const { status } = await service.call(
        method,
        `/api/worker/${workers[index]?.id}${path}`,
        body,
      );
      expect(status).toBeLessThan(205);
    }),
  );
const showsWaiting = (workers: readonly Worker[]) =>
  Promise.all(
    cases.map(({ last, pending }, index) =>
      becomes(workers[index]?.id ?? 0, {
        status: "unreachable",
        last_status: last,
        pending_status: pending,
      }),
    ),
  );

async function areCarriedOut(before: readonly Worker[]): Promise<void> {
  for (const [index, { end }] of cases.entries()) {
    const { id, process_list: list } = before[index] ?? { id: 0 };
    if (end === null) await isGone(id);
    else {
      const after = await becomes(id, { ...end, pending_status: null, last_status: null });
      expect(pids(after).some((pid) => list?.some((one) => one.pid === pid))).toBe(false);
    }
  }
}

test("every order given meanwhile waits without a deadline, is shown, and is carried out", async () => {
  const workers = await Promise.all(cases.map(({ make }) => make()));
  sendSignal(supervisord.pid(), "SIGSTOP");
  for (const { id } of workers) await becomes(id, { status: "unreachable" });
  await giveAll(workers);
  await showsWaiting(workers);
  await service.ahead(24 * 3600_000);
  // Waits until these jobs have ended, by when passed deadlines have been checked.
  await soon(async () => {
    const due = "select 1 from pgboss.job where name = 'worker.apply' and state < 'completed'";
    expect(await service.query(due)).toEqual([]);
  });
  await showsWaiting(workers);
  sendSignal(supervisord.pid(), "SIGCONT");
  await areCarriedOut(workers);
}, 150_000);

test("orders given before supervisord was noticed to be unresponsive wait as well, and can be withdrawn", async () => {
  const workers = await Promise.all(cases.map(({ make }) => make()));
  sendSignal(supervisord.pid(), "SIGSTOP");
  await giveAll(workers);
  await showsWaiting(workers);
  for (const [index, { last }] of cases.entries()) {
    const { id = 0, queue } = workers[index] ?? {};
    const withdraw = async () => (await service.call("DELETE", `/api/worker/${id}/pending`)).status;
    expect(await withdraw()).toBe(204);
    expect(await show(id)).toMatchObject({
      status: "unreachable",
      last_status: last,
      pending_status: null,
      queue,
      processes: 1,
      is_changing: false,
    });
    expect(await withdraw()).toBe(409);
  }
  const { body } = await service.json<Activity>("GET", "/api/activity?kind=worker");
  const withdrawn = body.data.filter(({ action }) => action === "order withdrawn");
  expect(new Set(withdrawn.map(({ object }) => object.id))).toEqual(
    new Set(workers.map(({ id }) => id)),
  );
  sendSignal(supervisord.pid(), "SIGCONT");
  for (const [index, { last }] of cases.entries()) {
    const before = workers[index];
    const after = await becomes(before?.id ?? 0, { status: last, pending_status: null });
    expect(before && pids(after)).toEqual(before && pids(before));
  }
}, 150_000);

test("a service that is started meanwhile shows what is stopped and what waits, and carries it out", async () => {
  const before = await left();
  const [up, stopped] = [await create(), await createStopped()];
  sendSignal(supervisord.pid(), "SIGSTOP");
  await becomes(up.id, { status: "unreachable" });
  expect((await service.call("DELETE", `/api/worker/${up.id}`)).status).toBe(204);
  await service.app.close("keep");
  service.app = await createApp(service.options);
  await becomes(stopped.id, { status: "unreachable", last_status: "stopped" });
  expect((await service.call("DELETE", `/api/worker/${stopped.id}`)).status).toBe(204);
  for (const [{ id }, last] of [
    [up, "installed"],
    [stopped, "stopped"],
  ] as const)
    await becomes(id, {
      status: "unreachable",
      last_status: last,
      pending_status: "removing",
    });
  await service.ahead(24 * 3600_000);
  sendSignal(supervisord.pid(), "SIGCONT");
  for (const { id } of [up, stopped]) await isGone(id);
  expect(await left()).toEqual(before);
}, 150_000);

inLongForm(() => {
  /** Keeps the worker's processes down as long as its server is unavailable. */
  async function createRestarting(): Promise<Worker> {
    const body = { ...workerBody, startsecs: 1, startretries: 50 };
    const { body: made } = await service.json<Worker>("POST", "/api/site/1/worker", body);
    const up = await becomes(made.id, { status: "installed" });
    await writeFile(join(service.folder, "shop/artisan"), "exit 1\n");
    for (const pid of pids(up)) signalGroup(pid, "SIGKILL");
    return becomes(made.id, { status: "restarting" });
  }

  test("an order for a worker that restarts by itself waits as well, is shown, and can be withdrawn", async () => {
    const { id } = await createRestarting();
    sendSignal(supervisord.pid(), "SIGSTOP");
    const away = { status: "unreachable", last_status: "restarting" } as const;
    await becomes(id, { ...away, pending_status: null });
    const withdraw = async () => (await service.call("DELETE", `/api/worker/${id}/pending`)).status;
    expect(await withdraw()).toBe(409);
    const orders = [
      ["/restart", undefined],
      ["", { queue: "other" }],
    ] as const;
    for (const [path, body] of orders) {
      expect((await service.call("PUT", `/api/worker/${id}${path}`, body)).status).toBeLessThan(
        205,
      );
      await becomes(id, { ...away, pending_status: "restarting", is_changing: body !== undefined });
      expect(await withdraw()).toBe(204);
      await becomes(id, { ...away, pending_status: null, is_changing: false, queue: "default" });
      expect(await withdraw()).toBe(409);
    }
    expect((await service.call("PUT", `/api/worker/${id}/restart`)).status).toBe(204);
    // The next service has the order, too.
    await service.app.close("keep");
    service.app = await createApp(service.options);
    await becomes(id, { ...away, pending_status: "restarting" });
    await writeFile(join(service.folder, "shop/artisan"), patientArtisan);
    sendSignal(supervisord.pid(), "SIGCONT");
    await becomes(id, { status: "installed", pending_status: null });
  }, 150_000);

  test("an accepted order does not count as waiting", async () => {
    const { id } = await create();
    await service.call("PUT", `/api/worker/${id}`, { stopwaitsecs: 3600 });
    await becomes(id, { status: "installed", is_changing: false });
    const stubborn = await becomes(id, { status: "installed" });
    for (const pid of pids(stubborn)) sendSignal(pid, "SIGSTOP");
    expect((await service.call("DELETE", `/api/worker/${id}/stop`)).status).toBe(204);
    await soon(
      async () => expect((await show(id)).process_list).toMatchObject([{ state: "STOPPING" }]),
      90_000,
    );
    // Completes only after a poll that began after that.
    await create();
    sendSignal(supervisord.pid(), "SIGSTOP");
    await becomes(id, { status: "unreachable", last_status: "stopping", pending_status: null });
    for (const pid of pids(stubborn)) sendSignal(pid, "SIGCONT");
    sendSignal(supervisord.pid(), "SIGCONT");
    await becomes(id, { status: "stopped" });
  }, 150_000);

  test("a restart that waits behind an accepted one is withdrawn without it", async () => {
    const { id } = await create();
    await service.call("PUT", `/api/worker/${id}`, { stopwaitsecs: 3600 });
    const before = await becomes(id, { status: "installed", is_changing: false });
    for (const pid of pids(before)) sendSignal(pid, "SIGSTOP");
    const restart = async () => (await service.call("PUT", `/api/worker/${id}/restart`)).status;
    expect(await restart()).toBe(204);
    await soon(
      async () => expect((await show(id)).process_list).toMatchObject([{ state: "STOPPING" }]),
      90_000,
    );
    // Completes only after a poll that began after that.
    await create();
    sendSignal(supervisord.pid(), "SIGSTOP");
    const away = { status: "unreachable", last_status: "restarting" } as const;
    await becomes(id, { ...away, pending_status: null });
    expect(await restart()).toBe(204);
    await becomes(id, { ...away, pending_status: "restarting" });
    expect((await service.call("DELETE", `/api/worker/${id}/pending`)).status).toBe(204);
    await becomes(id, { ...away, pending_status: null });
    for (const pid of pids(before)) sendSignal(pid, "SIGCONT");
    sendSignal(supervisord.pid(), "SIGCONT");
    const after = await becomes(id, { status: "installed" });
    expect(pids(after)).not.toEqual(pids(before));
  }, 150_000);

  test("a half-completed change continues when a stop that waited behind it is withdrawn", async () => {
    const { id } = await create();
    await service.call("PUT", `/api/worker/${id}`, { processes: 2, stopwaitsecs: 3600 });
    const before = await becomes(id, { status: "installed", is_changing: false });
    const [first = 0] = pids(before);
    sendSignal(first, "SIGSTOP");
    await service.call("PUT", `/api/worker/${id}`, { queue: "other" });
    await soon(
      async () =>
        expect((await show(id)).process_list).toMatchObject([
          { state: "STOPPING" },
          { state: "RUNNING" },
        ]),
      90_000,
    );
    // Completes only after a poll that began after that.
    await create();
    sendSignal(supervisord.pid(), "SIGSTOP");
    await becomes(id, { status: "unreachable", last_status: "restarting", pending_status: null });
    expect((await service.call("DELETE", `/api/worker/${id}/stop`)).status).toBe(204);
    expect((await service.call("DELETE", `/api/worker/${id}/pending`)).status).toBe(204);
    sendSignal(first, "SIGCONT");
    sendSignal(supervisord.pid(), "SIGCONT");
    const after = await becomes(id, { status: "installed", queue: "other" });
    expect(pids(after).filter((pid) => pids(before).includes(pid))).toEqual([]);
  }, 150_000);
});
