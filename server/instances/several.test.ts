// Tests several instances on one database, as separate processes.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backup, BackupConfiguration, DownloadLink } from "../../contract/backups/backup.ts";
import type { Page } from "../../contract/paging.ts";
import type { Worker, WorkerLog } from "../../contract/workers/worker.ts";
import { patientArtisan } from "../testing/artisan.ts";
import { inLongForm } from "../testing/long-form.ts";
import type { ServiceProcess } from "../testing/service-process.ts";
import { isAlive } from "../testing/signals.ts";
import { workerBody } from "../testing/worker-body.ts";
import { createSeveral, type Several } from "./testing/several.ts";
import { soon } from "../testing/soon.ts";

/** Interval of reading a log, which takes a command over SSH each time. */
const patience = { timeout: 60_000, interval: 1000 };
const servers = [1, 2];
let several: Several;
let first: ServiceProcess;
let second: ServiceProcess;
let api: ServiceProcess;
beforeAll(async () => {
  several = await createSeveral(servers.length);
  // The machine of all instances belongs to the first one.
  first = await several.start("first");
  [second, api] = await Promise.all([
    several.start("second", "runner"),
    several.start("api", "api"),
  ]);
  // Other tests may start as many instances at once, and each start then takes half a minute.
}, 300_000);
afterAll(() => several?.close());

const json = async <Body>(service: ServiceProcess, path: string): Promise<Body> => {
  const response = await service.call("GET", path);
  expect(`${response.status} ${response.ok ? "" : await response.text()}`).toBe("200 ");
  return response.json();
};
const workersOf = async (service: ServiceProcess, site: number) =>
  (await json<Page<Worker>>(service, `/api/site/${site}/workers`)).data;
const pidsOf = ({ process_list: list = [] }: Worker) => list.flatMap(({ pid }) => pid ?? []);
/** @returns the owners of the servers, once the second instance has some */
const secondHasSome = () =>
  soon(async () => {
    const owners = await several.owners();
    expect([...owners.values()]).toContain("second");
    return owners;
  });
const installed = (service: ServiceProcess, site: number) =>
  soon(async () => {
    const [worker] = await workersOf(service, site);
    expect(worker).toMatchObject({ status: "installed" });
    if (worker === undefined) throw new Error("There is no worker.");
    expect(pidsOf(worker).filter(isAlive)).toHaveLength(worker.processes ?? 1);
    return worker;
  });

test("share the servers over SSH, and keep those on their own machine", async () => {
  await soon(async () => {
    const owners = await several.owners();
    expect(new Set(servers.map((id) => owners.get(id)))).toEqual(new Set(["first", "second"]));
    expect(owners.get(100)).toBe("first");
  });
});

test("each instance serves requests about every server", async () => {
  for (const site of [...servers, 100]) {
    const created = await api.call("POST", `/api/site/${site}/worker`, {
      ...workerBody,
      // supervisord loses the stop signal of a process that it has forked, but that has not started its program yet.
      stopwaitsecs: 5,
    });
    expect(`${created.status} ${created.ok ? "" : await created.text()}`).toBe("201 ");
  }
  for (const site of [...servers, 100]) {
    const worker = await installed(api, site);
    for (const service of [first, second])
      expect(pidsOf(await installed(service, site))).toEqual(pidsOf(worker));
    await soon(async () => {
      const log = await json<WorkerLog>(api, `/api/worker/${worker.id}/log`);
      expect(log.text).toContain("queue:work");
    });
  }
});

inLongForm(() => {
  test("a download by a link that broke off is continued through each instance", async () => {
    const made = await api.call("POST", "/api/server/100/backup-configuration", {
      name: "Site",
      frequency: "30 2 * * *",
      storage_provider_id: 1,
      backupable_type: "site",
      backupable_id: 100,
    });
    const { id }: BackupConfiguration = await made.json();
    const run = await soon(async () => {
      const response = await api.call("POST", `/api/backup/${id}`);
      expect(response.status).toBe(202);
      const begun: Backup = await response.json();
      return begun;
    });
    const backup = await soon(async () => {
      const found = await json<Backup>(api, `/api/backup/${run.id}`);
      expect(found.status).toBe("finished");
      return found;
    });
    const link = await api.call("POST", `/api/backup/${backup.id}/download-link`);
    const { url }: DownloadLink = await link.json();
    const at = (service: ServiceProcess) =>
      service.url + new URL(url).pathname + new URL(url).search;
    const begun = await fetch(at(api));
    const tag = begun.headers.get("ETag") ?? "";
    const content = Buffer.from(await begun.arrayBuffer());
    expect([begun.status, content.length]).toEqual([200, backup.size]);
    for (const service of [api, first, second]) {
      expect((await fetch(at(service))).status).toBe(401);
      const headers = { Range: "bytes=10-", "If-Range": tag };
      const rest = await fetch(at(service), { headers });
      expect([rest.status, rest.headers.get("ETag")]).toEqual([206, tag]);
      expect(Buffer.from(await rest.arrayBuffer()).equals(content.subarray(10))).toBe(true);
    }
  });
});

test("nothing in the database lets its reader pose as an instance", async () => {
  const stored = await several.query<{ text: string | null }>(
    `select value as text from settings
     union all select value from instances, jsonb_each_text(to_jsonb(instances))`,
  );
  const callers = await several.query<{ id: number }>("select id from tokens");
  expect(Math.min(stored.length, callers.length)).toBeGreaterThan(0);
  for (const { text } of stored)
    for (const { id } of callers) {
      const headers = { "X-Quarterdeck-Peer": text ?? "", "X-Quarterdeck-Caller": String(id) };
      expect((await fetch(`${api.url}/api/servers`, { headers })).status).toBe(401);
    }
});

test("a runner reports that it serves no dashboard, and which instances do", async () => {
  const response = await second.call("GET", "/");
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({
    message:
      "This instance serves no dashboard: its QUARTERDECK_ROLE is runner. Open an instance whose role is all or api.",
  });
});

inLongForm(() => {
  test("a request about a server between two instances waits for the next one", async () => {
    const owners = await secondHasSome();
    const site = servers.find((id) => owners.get(id) === "second") ?? 0;
    const worker = await installed(api, site);
    const runners = [first, second];
    for (const { child } of runners) child.kill("SIGSTOP");
    await several.query("update server_leases set instance_id = null where server_id = $1", [site]);
    const asked = api.call("DELETE", `/api/worker/${worker.id}/stop`);
    // Long enough for the request to be refused.
    await wait(500);
    for (const { child } of runners) child.kill("SIGCONT");
    await several.query("select pg_notify('quarterdeck_leases', '')");
    const answer = await asked;
    expect(`${answer.status} ${await answer.text()}`).toBe("204 ");
    expect((await api.call("POST", `/api/worker/${worker.id}/start`)).status).toBe(204);
    await installed(api, site);
  });
});

inLongForm(() => {
  test("a hanging instance is considered dead, and changes nothing when it continues", async () => {
    const owners = await secondHasSome();
    const hung = servers.find((id) => owners.get(id) === "second") ?? 0;
    const worker = await installed(api, hung);
    second.child.kill("SIGSTOP");
    await soon(async () => expect((await several.owners()).get(hung)).toBe("first"));
    await installed(api, hung);
    // The other instance now decides about the worker.
    expect((await api.call("DELETE", `/api/worker/${worker.id}/stop`)).status).toBe(204);
    await soon(async () =>
      expect((await workersOf(api, hung))[0]).toMatchObject({ status: "stopped" }),
    );
    second.child.kill("SIGCONT");
    await soon(() => expect(second.output()).toContain("was taken for dead"));
    expect((await workersOf(api, hung))[0]).toMatchObject({ status: "stopped" });
    // Retried, because a request between two owners of the server is refused.
    await soon(async () =>
      expect((await api.call("POST", `/api/worker/${worker.id}/start`)).status).toBe(204),
    );
    await installed(api, hung);
  });
});

test("when an instance is killed another one takes its servers over within 30 s, its workers continue, and a follower of a log continues at the same byte; its own machine is unreachable until it is back", async () => {
  const owners = await secondHasSome();
  const site = servers.find((id) => owners.get(id) === "first") ?? 0;
  await writeFile(
    join(several.folder, `site-${site}/artisan`),
    "n=0; while :; do for _ in 1 2 3 4 5; do n=$((n + 1)); echo $$ $n; done; sleep 1; done\n",
  );
  const [worker] = await workersOf(api, site);
  const id = worker?.id ?? 0;
  await api.call("PUT", `/api/worker/${id}`, { processes: 2, queue: "other" });
  const counts = () =>
    soon(async () => {
      const [one] = await workersOf(api, site);
      expect(one).toMatchObject({ status: "installed", is_changing: false, processes: 2 });
      return one && pidsOf(one);
    });
  const pids = await counts();
  const running = new Map<number, number[]>();
  for (const id of servers) running.set(id, pidsOf(await installed(api, id)));
  const last = await json<WorkerLog>(api, `/api/worker/${id}/log?lines=1`);
  let text = "";
  let offset = last.end;
  const follow = async () => {
    const response = await api.call("GET", `/api/worker/${id}/log?offset=${offset}`);
    // Sent while no instance looks after its server.
    if (!response.ok) return 0;
    const part: WorkerLog = await response.json();
    expect(part).toMatchObject({ start: offset, rotated: false });
    text += part.text;
    offset = part.end;
    return text.split("\n").length;
  };
  await expect.poll(follow, patience).toBeGreaterThan(20);
  const before = { text, offset };
  const [own] = await workersOf(api, 100);
  await first.end("SIGKILL");
  const [killed] = await several.query<{ at: Date }>("select clock_timestamp() as at");
  await soon(async () => {
    const now = await several.owners();
    expect(servers.map((one) => now.get(one))).toEqual(servers.map(() => "second"));
  });
  for (const one of servers) expect(pidsOf(await installed(api, one))).toEqual(running.get(one));
  const taken = await several.query<{ seconds: number }>(
    `select extract(epoch from since - $1)::float as seconds from server_leases
     where server_id = any($2) and since > $1`,
    [killed?.at, servers],
  );
  expect(Math.max(...taken.map(({ seconds }) => seconds))).toBeLessThan(30);
  // Another client that follows the log is behind.
  await expect.poll(follow, patience).toBeGreaterThan(before.text.split("\n").length + 100);
  expect(await counts()).toEqual(pids);
  const again = await json<WorkerLog>(api, `/api/worker/${id}/log?offset=${last.end}`);
  expect(again).toMatchObject({ start: last.end, rotated: false });
  expect(again.text.slice(0, before.text.length)).toBe(before.text);
  for (const pid of pids ?? []) {
    const seen = text
      .split("\n")
      .flatMap((line) => (line.startsWith(`${pid} `) ? Number(line.split(" ")[1]) : []));
    expect(seen.length).toBeGreaterThan(25);
    expect(seen).toEqual(seen.map((_, index) => (seen[0] ?? 0) + index));
  }
  await writeFile(join(several.folder, `site-${site}/artisan`), patientArtisan);
  expect((await api.call("PUT", `/api/worker/${id}`, { processes: 1 })).status).toBe(200);
  await installed(api, site);

  await soon(async () => {
    const [away] = await workersOf(api, 100);
    expect(away).toMatchObject({
      status: "unreachable",
      status_reason: expect.stringContaining("first"),
    });
  });
  expect((await api.call("DELETE", `/api/worker/${own?.id}/stop`)).status).toBe(503);
  first = await several.start("first");
  expect(pidsOf(await installed(api, 100))).toEqual(own && pidsOf(own));
  const types = await several.query<{ type: string }>(
    "select type from events where server_id = 100 and type like 'server.%' order by id",
  );
  expect(types.map(({ type }) => type)).toEqual(["server.unreachable", "server.recovered"]);
}, 180_000);

inLongForm(() => {
  test("a stopping instance hands its servers over", async () => {
    const owners = await secondHasSome();
    const taken = servers.find((id) => owners.get(id) === "second") ?? 0;
    const before = pidsOf(await installed(api, taken));
    await second.end("SIGTERM");
    expect(await several.query("select from instances where name = 'second'")).toEqual([]);
    await soon(async () => expect((await several.owners()).get(taken)).toBe("first"));
    expect(pidsOf(await installed(api, taken))).toEqual(before);
  });
});
