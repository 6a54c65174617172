// How the service shows a worker whose supervisord does not respond.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Activity } from "../../../contract/activity.ts";
import type { Overview } from "../../../contract/overview.ts";
import type { Page } from "../../../contract/paging.ts";
import type { Worker } from "../../../contract/workers/worker.ts";
import { createApp } from "../../app.ts";
import { inLongForm } from "../../testing/long-form.ts";
import type { TestService } from "../../testing/service.ts";
import { sendSignal } from "../../testing/signals.ts";
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
const create = async (fields: object = {}) => {
  // supervisord loses the stop signal of a process that it has forked, but that has not started its program yet.
  const wanted = { ...workerBody, stopwaitsecs: 5, ...fields };
  const { body } = await service.json<Worker>("POST", "/api/site/1/worker", wanted);
  return becomes(body.id, { status: "installed" });
};
/** Waits until the order has reached the process manager. */
const given = () =>
  soon(async () => {
    const orders = "select 1 from pgboss.job where name like 'worker.%' and state < 'completed'";
    expect(await service.query(orders)).toEqual([]);
  });
const groupsOf = async (id: number) =>
  [
    ...JSON.stringify(await supervisord.call("getAllProcessInfo")).matchAll(
      new RegExp(`"group":"(quarterdeck-\\w+-${id}-\\d)"`, "g"),
    ),
  ].map(([, group = ""]) => group);
const pids = ({ process_list: list = [] }: Worker) => list.map(({ pid }) => pid);

test("is unreachable with its last status and the reason, and has its previous status afterwards", async () => {
  const before = await create();
  const { id } = before;
  sendSignal(supervisord.pid(), "SIGSTOP");
  const away = await becomes(id, { status: "unreachable", last_status: "installed" });
  expect(away).toMatchObject({
    pending_status: null,
    status_reason: expect.stringContaining("5 s"),
  });
  expect(away.unreachable_since).toMatch(/^\d{4}-/);
  const { body } = await service.json<Page<Worker>>(
    "GET",
    "/api/site/1/workers?filter[status]=unreachable",
  );
  expect(body.data.map((worker) => worker.id)).toEqual([id]);
  expect((await service.json<Overview>("GET", "/api/overview")).body).toMatchObject({
    workers: { up: 0, stopped: 0, unreachable: 1, failing: 0, problems: [] },
    servers: [
      {
        health: "failing",
        unreachable: { what: "workers", since: away.unreachable_since, reason: away.status_reason },
        sites: [{ health: "unreachable" }],
      },
    ],
  });
  // No deadline ends this state.
  await service.ahead(24 * 3600_000);
  expect((await show(id)).status).toBe("unreachable");
  sendSignal(supervisord.pid(), "SIGCONT");
  const after = await becomes(id, {
    status: "installed",
    unreachable_since: null,
    last_status: null,
  });
  expect(after.status_reason).toBeNull();
  expect(pids(after)).toEqual(pids(before));
});

inLongForm(() => {
  test("a waiting order can be withdrawn without any effect", async () => {
    const before = await create();
    const { id } = before;
    const withdraw = () => service.call("DELETE", `/api/worker/${id}/pending`);
    expect((await withdraw()).status).toBe(409);
    sendSignal(supervisord.pid(), "SIGSTOP");
    await becomes(id, { status: "unreachable" });
    expect((await withdraw()).status).toBe(409);
    const orders = [
      ["DELETE", "/stop", "stopping"],
      ["PUT", "/restart", "restarting"],
      ["PUT", "", "restarting"],
      ["DELETE", "", "removing"],
    ] as const;
    for (const [method, path, pending] of orders) {
      const body = method === "PUT" && path === "" ? { queue: "other", processes: 2 } : undefined;
      expect((await service.call(method, `/api/worker/${id}${path}`, body)).status).toBeLessThan(
        205,
      );
      await becomes(id, { pending_status: pending, last_status: "installed" });
      // The first order is withdrawn before the service has accepted it, the others after that.
      if (path !== "/restart") await given();
      expect((await withdraw()).status).toBe(204);
      expect(await show(id)).toMatchObject({
        status: "unreachable",
        last_status: "installed",
        pending_status: null,
        queue: before.queue,
        processes: 1,
        is_changing: false,
      });
      expect((await withdraw()).status).toBe(409);
    }
    // The opposite order does not affect them either.
    await service.call("DELETE", `/api/worker/${id}/stop`);
    await becomes(id, { pending_status: "stopping" });
    await service.call("POST", `/api/worker/${id}/start`);
    await becomes(id, { pending_status: "starting" });
    await given();
    sendSignal(supervisord.pid(), "SIGCONT");
    const after = await becomes(id, { status: "installed" });
    expect(pids(after)).toEqual(pids(before));
    // The next service does not carry it out either.
    await service.app.close("keep");
    service.app = await createApp(service.options);
    expect(pids(await becomes(id, { status: "installed", unreachable_since: null }))).toEqual(
      pids(before),
    );
    const { body } = await service.json<Activity>("GET", "/api/activity?kind=worker");
    expect(body.data.filter(({ action }) => action === "order withdrawn")).toHaveLength(4);
  });
});

test("a worker stopped on the server is shown as stopped, and can be started here again", async () => {
  const { id } = await create();
  const [group = ""] = await groupsOf(id);
  await supervisord.call("stopProcess", group, true);
  const stopped = await becomes(id, { status: "stopped" });
  expect(stopped.status_reason).toContain("Stopped on the server, not by Quarterdeck");
  // Neither a change of its settings nor a deployment starts it.
  await service.call("PUT", `/api/worker/${id}`, { sleep: 7 });
  const deployment = { status: "finished", restart_workers: true };
  const { body } = await service.json("POST", "/api/site/1/deployment", deployment);
  expect(body).toMatchObject({ restarted_workers: 0 });
  await given();
  expect(await supervisord.call("getProcessInfo", group)).toMatchObject({ statename: "STOPPED" });
  await supervisord.call("startProcess", group, false);
  await becomes(id, { status: "installed" });
});

test("a worker of which one process is started on the server again is failed, and can be stopped", async () => {
  const { id } = await create({ processes: 2 });
  // At once, because the first of two that are stopped one after the other makes the worker failed.
  await supervisord.call("stopAllProcesses", true);
  await becomes(id, { status: "stopped" });
  const [group = ""] = await groupsOf(id);
  await supervisord.call("startProcess", group, false);
  const failed = await becomes(id, { status: "failed" });
  expect(failed.status_reason).toContain("Process 2: Stopped on the server, not by Quarterdeck");
  await service.call("DELETE", `/api/worker/${id}/stop`);
  await becomes(id, { status: "stopped" });
  expect(await groupsOf(id)).toEqual([]);
});

test("a start, or a restart, of a worker stopped on the server is in transit until it is up", async () => {
  const { id } = await create({ processes: 2, startsecs: 2 });
  // At once, because a worker of which only one process is stopped is failed.
  const stopAll = () => supervisord.call("stopAllProcesses", true);
  const stopOne = async () => {
    const [group = ""] = await groupsOf(id);
    await supervisord.call("stopProcess", group, true);
  };
  const orders = [
    ["POST", "start", stopAll, "stopped", ["up"]],
    ["PUT", "restart", stopAll, "stopped", []],
    ["POST", "start", stopOne, "failed", ["recovered"]],
  ] as const;
  for (const [method, order, stop, status, told] of orders) {
    await stop();
    await becomes(id, { status });
    await service.call(method, `/api/worker/${id}/${order}`);
    await becomes(id, { status: "installed", status_reason: null });
    const { body } = await service.json<Activity>("GET", "/api/activity?kind=worker");
    const since = body.data.findIndex(({ action }) => action === `asked to ${order}`);
    expect(body.data.slice(0, since).map(({ action }) => action)).toEqual(told);
  }
});
