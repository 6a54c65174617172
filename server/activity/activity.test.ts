import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Activity, ActivityEntry } from "../../contract/activity.ts";
import { workerName } from "../../contract/workers/worker-name.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { ownUser } from "../testing/own-user.ts";
import { soon } from "../testing/soon.ts";

let service: TestService;
beforeAll(async () => {
  service = await createTestService({
    inventory: (folder) => `
servers:
  - { id: 1, name: here, connection: local }
  - { id: 2, name: there, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
  - { id: 2, server: 2, name: blog, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder} }
`,
  });
});
afterAll(() => service.close());

const deploy = (site: number) =>
  service.call("POST", `/api/site/${site}/deployment`, { status: "finished" });
const list = async (query = "", token?: string): Promise<Activity> =>
  (await service.call("GET", `/api/activity${query}`, undefined, token)).json();
const words = ({ kind, action, actor, object }: ActivityEntry) =>
  `${actor.type} ${actor.name}: ${kind} ${object.name} ${action}`;

describe("the timeline", () => {
  test("names the token that asked, then the supervisor that acted", async () => {
    const made = await service.json<{ id: number }>("POST", "/api/site/1/worker", workerBody);
    await soon(async () => expect((await list("?kind=worker")).data[0]?.action).toBe("up"), 20_000);
    await service.call("DELETE", `/api/worker/${made.body.id}/stop`);
    await soon(async () => expect((await list("?kind=worker")).data[0]?.action).toBe("stopped"));
    const { data } = await list("?kind=worker");
    const name = `${workerName(workerBody)} (shop)`;
    expect(data.map(words)).toEqual([
      `supervisor Supervisor: worker ${name} stopped`,
      `token QUARTERDECK_TOKEN: worker ${name} asked to stop`,
      `supervisor Supervisor: worker ${name} up`,
      `token QUARTERDECK_TOKEN: worker ${name} created`,
    ]);
    expect(data[0]).toMatchObject({
      server_id: 1,
      site_id: 1,
      object: { type: "worker", id: made.body.id },
    });
  });

  test("is filtered by server, site and kind", async () => {
    await deploy(1);
    await deploy(2);
    const idsOf = ({ data }: Activity) => new Set(data.map(({ server_id: id }) => id));
    expect(idsOf(await list("?server=2"))).toEqual(new Set([2]));
    expect(idsOf(await list("?site=1"))).toEqual(new Set([1]));
    expect(new Set((await list("?kind=deployment")).data.map(({ kind }) => kind))).toEqual(
      new Set(["deployment"]),
    );
    expect((await list("?server=99999999999")).data).toEqual([]);
  });

  test("is paged by key: new entries move nothing", async () => {
    for (let count = 0; count < 60; count++) await deploy(2);
    const first = await list("?server=2");
    expect(first.data).toHaveLength(50);
    await deploy(2);
    const second = await list(`?server=2&before=${first.next}`);
    const ids = [...first.data, ...second.data].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    expect(second.next).toBeNull();
    const newer = await list(`?server=2&after=${first.data[0]?.id}`);
    expect(newer.data).toHaveLength(1);
  });

  test.each([
    "?server=x",
    "?before=-1",
    "?kind=gossip",
    "?after=0",
    "?from=yesterday",
    "?to=2026-13-01T00:00Z",
    "?to=2026-02-30T00:00Z",
    "?from=0000-01-01T00:00Z",
    `?search=${"x".repeat(201)}`,
    "?actor=%00",
  ])("%s is refused at its field", async (query) => {
    const response = await service.call("GET", `/api/activity${query}`);
    expect(response.status).toBe(422);
  });

  test("is searched by the beginnings of words, whatever separates them", async () => {
    await service.call("POST", "/api/site/2/deployment", {
      status: "failed",
      message: "checkout-v2: café's migrations/2026_11 broke (exit 3)",
    });
    const found = async (text: string) =>
      (await list(`?search=${encodeURIComponent(text)}`)).data.map(({ detail }) => detail);
    for (const text of [
      "checkout",
      "CHECK v2",
      "café migr",
      "migrations/2026_11",
      "(exit",
      "blog checkout",
    ])
      expect(await found(text), text).toEqual([expect.stringContaining("checkout-v2")]);
    expect(await found("heckout")).toEqual([]);
    expect(await found("checkout shop")).toEqual([]);
    // Characters with a meaning in text search queries and in SQL.
    for (const text of ["checkout & !v2", "' or 1=1 --", "a:*|b", "!!!"])
      expect(
        (await service.call("GET", `/api/activity?search=${encodeURIComponent(text)}`)).status,
      ).toBe(200);
  });

  test("is filtered by actor, and lists all actors", async () => {
    const { actors = [] } = await list();
    expect(actors).toContainEqual({ type: "token", name: "QUARTERDECK_TOKEN" });
    expect(actors).toContainEqual({ type: "supervisor", name: "Supervisor" });
    const { data } = await list("?actor=Supervisor");
    expect(data.length).toBeGreaterThan(0);
    expect(new Set(data.map(({ actor }) => actor.name))).toEqual(new Set(["Supervisor"]));
    expect((await list("?actor=nobody")).data).toEqual([]);
    // Only the newest page lists the actors.
    expect(await list(`?before=${data[0]?.id}`)).not.toHaveProperty("actors");
  });

  test("is filtered by time, the end not included", async () => {
    const [newest] = (await list()).data;
    const at = newest?.at ?? "";
    expect((await list(`?from=${at}`)).data.map(({ id }) => id)).toContain(newest?.id);
    expect((await list(`?to=${at}`)).data.map(({ id }) => id)).not.toContain(newest?.id);
    expect((await list("?from=2000-01-01T00:00Z&to=2000-01-02T00:00Z")).data).toEqual([]);
  });

  test("shows a token only its own servers", async () => {
    const made = await service.json<{ token: string }>("POST", "/api/tokens", {
      name: "blog only",
      abilities: ["read"],
      server_ids: [2],
    });
    const { data } = await list("", made.body.token);
    expect(new Set(data.map(({ server_id: id }) => id))).toEqual(new Set([2]));
    expect((await list("?server=1", made.body.token)).data).toEqual([]);
    // The supervisor has no entries on that server.
    expect((await list("", made.body.token)).actors?.map(({ name }) => name)).not.toContain(
      "Supervisor",
    );
  });
});

test("records actions on backups and tokens, with what was kept and where", async () => {
  const made = await service.json<{ id: number }>("POST", "/api/server/1/backup-configuration", {
    name: "Shop",
    frequency: "0 3 * * *",
    storage_provider_id: 1,
    backupable_type: "site",
    backupable_id: 1,
  });
  const path = `/api/backup-configuration/${made.body.id}`;
  await soon(async () =>
    expect((await service.json("GET", path)).body).toMatchObject({ status: "installed" }),
  );
  const run = await service.json<{ id: number }>("POST", `/api/backup/${made.body.id}`);
  await soon(async () =>
    expect((await service.json("GET", `/api/backup/${run.body.id}`)).body).toMatchObject({
      status: "finished",
    }),
  );
  // The row is finished a moment before its place in the queue is free again.
  await soon(async () => expect((await service.call("DELETE", path)).status).toBe(204), 20_000);
  const { data } = await list("?kind=backup");
  expect(data.map(({ action, actor }) => `${actor.type} ${action}`)).toEqual([
    "token deleted",
    "service finished",
    "token asked to run",
    "service installed",
    "token created",
  ]);
  expect(data[0]?.detail).toBe(`Stored files kept: shop/${made.body.id} on disk`);
  expect((await list("?kind=token")).data[0]).toMatchObject({
    action: "created",
    object: { type: "token", name: "blog only" },
  });
});

describe("a deployment", () => {
  test("is answered with the reported data", async () => {
    const deployment = {
      status: "failed",
      commit: "4f1c2d3",
      branch: "main",
      message: "Tests failed.",
    };
    const { status, body } = await service.json("POST", "/api/site/2/deployment", deployment);
    expect(status).toBe(202);
    expect(body).toMatchObject({ ...deployment, site_id: 2, restarted_workers: 0 });
    expect((await list("?site=2")).data[0]).toMatchObject({
      action: "deployment failed",
      outcome: "bad",
      detail: "Tests failed.",
      actor: { type: "token", name: "QUARTERDECK_TOKEN" },
    });
  });

  test.each([
    [{}, "status"],
    [{ status: "done" }, "status"],
    [{ status: "finished", url: "javascript:alert(1)" }, "url"],
    [{ status: "finished", commit: "a\nb" }, "commit"],
    [{ status: "finished", message: "x".repeat(5001) }, "message"],
  ])("%j is refused at its field", async (body, field) => {
    const answer = await service.json<{ errors: object }>("POST", "/api/site/2/deployment", body);
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.errors)).toEqual([field]);
  });

  test("of an unknown site is 404", async () => {
    expect((await deploy(99)).status).toBe(404);
  });

  test("restarts the workers of its site on request, and no others", async () => {
    const make = async (site: number) =>
      (await service.json<{ id: number }>("POST", `/api/site/${site}/worker`, workerBody)).body.id;
    const pidOf = async (id: number) => {
      const { body } = await service.json<{ status: string; process_list: { pid: number }[] }>(
        "GET",
        `/api/worker/${id}`,
      );
      return body.status === "installed" ? body.process_list[0]?.pid : undefined;
    };
    const up = (id: number) =>
      soon(async () => {
        const pid = await pidOf(id);
        expect(pid).toBeDefined();
        return pid;
      });
    const [mine, other] = [await make(1), await make(2)];
    const [before, others] = [await up(mine), await up(other)];
    const { body } = await service.json("POST", "/api/site/1/deployment", {
      status: "finished",
      restart_workers: true,
    });
    expect(body).toMatchObject({ restarted_workers: 1 });
    await soon(async () => expect(await up(mine)).not.toBe(before));
    expect(await pidOf(other)).toBe(others);
    // The process ended by itself after the signal: it printed this line.
    const log = await service.json<{ text: string }>("GET", `/api/worker/${mine}/log`);
    expect(log.body.text).toContain("bye");
  });
});
