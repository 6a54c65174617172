// Workers of a server over SSH, tested with the whole service.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { userInfo } from "node:os";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Page } from "../../contract/paging.ts";
import type { Site } from "../../contract/servers.ts";
import type { Worker, WorkerLog } from "../../contract/workers/worker.ts";
import { createApp } from "../app.ts";
import { createLog } from "../log.ts";
import { sshEntry } from "../ssh/testing/entry.ts";
import { startSshd, type TestSshd } from "../ssh/testing/sshd.ts";
import { inLongForm } from "../testing/long-form.ts";
import { createTestService, oneSite, type TestService } from "../testing/service.ts";
import { isAlive } from "../testing/signals.ts";
import { workerBody } from "../testing/worker-body.ts";
import { startSupervisord, type TestSupervisord } from "./supervisord/testing/supervisord.ts";
import { soon } from "../testing/soon.ts";

let sshd: TestSshd;
const cleanUps: (() => unknown)[] = [];
let supervisord: TestSupervisord;
let service: TestService;
/** Log of the service. */
let log = "";
const patience = { timeout: 60_000, interval: 200 };
/** Minimum real time without a connection. The clock of the backoffs, which is faked, advances by half an hour in any case. */
const awaySeconds = Number(process.env["AWAY_SECONDS"] ?? 0);
const awayText = awaySeconds === 0 ? "a long time" : `${awaySeconds} s`;

beforeAll(async () => {
  supervisord = await startSupervisord();
  sshd = await startSshd({ cleanUp: (work) => void cleanUps.push(work) });
  const connection = sshEntry(sshd, undefined, userInfo().username);
  service = await createTestService({
    log: createLog("error", { write: (line) => void (log += line) }),
    inventory: (folder) =>
      oneSite(folder).replace(
        "connection: local",
        `connection: ${connection}, supervisord_config: ${supervisord.config}`,
      ),
  });
});
afterAll(async () => {
  await service?.close();
  await supervisord?.close();
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

/** Deletes all workers, which could keep their site from being moved back to its server. */
const removeAll = () =>
  soon(async () => {
    const { body } = await service.json<Page<Worker>>("GET", "/api/site/1/workers");
    for (const { id } of body.data) await service.call("DELETE", `/api/worker/${id}`);
    expect(body.data).toEqual([]);
  });
afterEach(removeAll, 90_000);

const show = async (id: number) => (await service.json<Worker>("GET", `/api/worker/${id}`)).body;
const becomes = (id: number, wanted: Partial<Worker>) =>
  soon(async () => {
    const worker = await show(id);
    expect(worker).toMatchObject(wanted);
    return worker;
  });
/** Creates a worker with few stop seconds, because a stop signal that arrives between supervisord's fork and exec is lost. */
const post = (body: object) =>
  service.json<Worker>("POST", "/api/site/1/worker", { stopwaitsecs: 5, ...body });
const pids = ({ process_list: list = [] }: Worker) => list.flatMap(({ pid }) => pid ?? []);
/** Returns the names of a worker's files below the folder of the server's supervisord. */
const filesOf = async (id: number) => {
  const names = await readdir(supervisord.folder, { recursive: true });
  return names.filter((name) => new RegExp(`quarterdeck-\\w+-${id}\\.|worker-${id}-`).test(name));
};

test("a worker runs on its server, whatever happens to the connection, and leaves nothing there", async () => {
  const { status, body } = await post({ ...workerBody, processes: 2 });
  expect(status).toBe(201);
  const { id } = body;
  const first = pids(await becomes(id, { status: "installed" }));
  expect(first.map(isAlive)).toEqual([true, true]);
  expect((await filesOf(id)).length).toBeGreaterThan(1);
  await soon(async () => {
    const { body: log } = await service.json<WorkerLog>("GET", `/api/worker/${id}/log`);
    expect(log).toMatchObject({ text: expect.stringContaining("called with queue:work database") });
  });

  expect((await service.call("PUT", `/api/worker/${id}/restart`)).status).toBe(204);
  const second = pids(await becomes(id, { status: "installed" }));
  expect(second.some((pid) => first.includes(pid))).toBe(false);

  // A connection that is lost and restored at once has no effect.
  await sshd.cut();
  expect(pids(await becomes(id, { status: "installed" }))).toEqual(second);

  expect((await service.call("DELETE", `/api/worker/${id}`)).status).toBe(204);
  await soon(async () => expect((await service.call("GET", `/api/worker/${id}`)).status).toBe(404));
  expect(second.some(isAlive)).toBe(false);
  expect(await filesOf(id)).toEqual([]);
}, 240_000);

/** Returns the number of lines in the logs of a worker's processes on the server. */
async function linesThere(id: number): Promise<number> {
  const logs = (await filesOf(id)).filter((name) => name.endsWith(".log"));
  const texts = logs.map((name) => readFile(join(supervisord.folder, name), "utf8"));
  return (await Promise.all(texts)).join("").split("\n").length;
}

test(
  `after ${awayText} of outage processes are the same, their log has no gap, and states are right within 10 s`,
  async ({ annotate }) => {
    const artisan = join(service.folder, "shop/artisan");
    const patient = await readFile(artisan, "utf8");
    const padding = "x".repeat(200);
    await writeFile(
      artisan,
      `n=0; while :; do n=$((n + 1)); echo line $$ $n ${padding}; sleep 0.2; done\n`,
    );
    const { id } = (await post({ ...workerBody, processes: 2 })).body;
    const stopped = (await post(workerBody)).body.id;
    const before = pids(await becomes(id, { status: "installed" }));
    await becomes(stopped, { status: "installed" });
    await service.call("DELETE", `/api/worker/${stopped}/stop`);
    await becomes(stopped, { status: "stopped" });
    let text = "";
    let offset = 0;
    const follow = async () => {
      const path = `/api/worker/${id}/log?offset=${offset}`;
      const { body: part } = await service.json<WorkerLog>("GET", path);
      text += part.text;
      offset = part.end;
      return text.split("\n").length;
    };
    await expect.poll(follow, patience).toBeGreaterThan(5);

    await sshd.stop();
    const awayMs = performance.now();
    const away = await becomes(id, { status: "unreachable", last_status: "installed" });
    expect(away.status_reason).toMatch(/^127\.0\.0\.1:\d+ |^The connection to 127\.0\.0\.1:\d+ /);
    await becomes(stopped, { status: "unreachable", last_status: "stopped" });
    await service.ahead(30 * 60_000);
    const count = await follow();
    // Waits for so many lines that the delay before the next connection attempt has reached its maximum.
    const written = () => linesThere(id);
    await expect.poll(written, patience).toBeGreaterThan(count + 160);
    await expect
      .poll(() => performance.now() - awayMs, { timeout: awaySeconds * 1000 + 1000, interval: 500 })
      .toBeGreaterThanOrEqual(awaySeconds * 1000);
    expect(before.map(isAlive)).toEqual([true, true]);
    const there = await written();
    await sshd.start();
    const backMs = performance.now();
    const after = await becomes(id, { status: "installed", unreachable_since: null });
    await becomes(stopped, { status: "stopped" });
    const rightMs = performance.now() - backMs;
    expect(pids(after)).toEqual(before);
    expect(rightMs).toBeLessThan(10_000);
    await expect.poll(follow, patience).toBeGreaterThan(there);
    for (const pid of before) {
      const lines = text.split("\n").filter((line) => line.startsWith(`line ${pid} `));
      expect(lines).toEqual(lines.map((_, index) => `line ${pid} ${index + 1} ${padding}`));
    }
    await annotate(
      `Right ${Math.round(rightMs)} ms after ${Math.round((backMs - awayMs) / 1000)} s away; ${there - count} lines written meanwhile.`,
    );
    await writeFile(artisan, patient);
  },
  180_000 + awaySeconds * 1000,
);

inLongForm(() => {
  test("starts what was created while the server was unreachable once it is back", async () => {
    await sshd.stop();
    const { status, body } = await post({ ...workerBody, directory: "." });
    expect(status).toBe(201);
    await becomes(body.id, { status: "unreachable", last_status: "installing" });
    await sshd.start();
    await becomes(body.id, { status: "installed" });
  }, 120_000);
});

test("refuses a directory that does not exist on the server at its field", async () => {
  const folder = join(service.folder, "shop/there");
  const refused = await service.json<{ errors: object }>("POST", "/api/site/1/worker", {
    ...workerBody,
    directory: "there",
  });
  expect(refused).toMatchObject({
    status: 422,
    body: { errors: { directory: ["The directory field is not there."] } },
  });
  await mkdir(folder);
  const { body } = await post({ ...workerBody, directory: "there" });
  await becomes(body.id, { status: "installed", directory: "there" });
  await rm(folder, { recursive: true });
});

inLongForm(() => {
  test("reports a supervisord that does not run there, with the command that starts it", async () => {
    const { body } = await post(workerBody);
    await becomes(body.id, { status: "installed" });
    await supervisord.stop();
    const away = await becomes(body.id, { status: "unreachable", last_status: "installed" });
    expect(away.status_reason).toBe(
      `supervisord is not running: its socket ${supervisord.socket} is not there. Start it on the server: systemctl start supervisor`,
    );
    await supervisord.start();
    await becomes(body.id, { status: "installed" });
  }, 120_000);
});

test("a service that starts while the server hangs does not wait for it, and shows the last known state", async () => {
  const { body } = await post(workerBody);
  const { id } = body;
  const before = pids(await becomes(id, { status: "installed" }));
  await service.app.close("keep");
  const goOn = await sshd.hang();
  try {
    service.app = await createApp(service.options);
    // A request does not wait either: whether the directory exists is checked when the worker starts.
    expect((await post({ ...workerBody, directory: "." })).status).toBe(201);
    // If something had waited, the worker would be unreachable by now.
    expect((await show(id)).status).toBe("installed");
    await becomes(id, { status: "unreachable", last_status: "installed" });
  } finally {
    await goOn();
  }
  expect(pids(await becomes(id, { status: "installed" }))).toEqual(before);
}, 120_000);

const isOn = (serverId: number) =>
  soon(async () => {
    const { body: site } = await service.json<Site>("GET", "/api/site/1");
    expect(site.server_id).toBe(serverId);
  });

inLongForm(() => {
  test("a worker whose site has left an unreachable server starts on the new one", async () => {
    const { body } = await post(workerBody);
    const { id } = body;
    await becomes(id, { status: "installed" });
    expect((await service.call("DELETE", `/api/worker/${id}/stop`)).status).toBe(204);
    await becomes(id, { status: "stopped" });
    await sshd.stop();
    await becomes(id, { status: "unreachable", last_status: "stopped" });
    const there = await readFile(service.inventoryFile, "utf8");
    const moved = there
      .replace("sites:", "  - { id: 2, name: new, connection: local }\nsites:")
      .replace("server: 1, name: shop", "server: 2, name: shop");
    try {
      // The database rejects the first changes of the worker.
      await service.query(
        `create function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
      create trigger refuse before update of unreachable_since on workers execute function refuse()`,
      );
      await writeFile(service.inventoryFile, moved);
      await soon(() => expect(log).toContain("workers whose sites are on other servers now"));
      await service.query("drop function refuse cascade");
      // Whether the former server responds no longer matters.
      await becomes(id, { status: "stopped", unreachable_since: null });
      expect((await service.call("POST", `/api/worker/${id}/start`)).status).toBe(204);
      await becomes(id, { status: "installed" });
      expect((await service.call("DELETE", `/api/worker/${id}/stop`)).status).toBe(204);
      await becomes(id, { status: "stopped" });
      // Moves the site back and forth while the worker's files on the unreachable server cannot be removed.
      await writeFile(service.inventoryFile, there);
      await isOn(1);
      await writeFile(service.inventoryFile, moved);
      await isOn(2);
      expect((await service.call("POST", `/api/worker/${id}/start`)).status).toBe(204);
      await becomes(id, { status: "installed" });
      expect((await service.call("DELETE", `/api/worker/${id}/stop`)).status).toBe(204);
      await becomes(id, { status: "stopped" });
    } finally {
      await sshd.start();
      await writeFile(service.inventoryFile, there);
    }
    await isOn(1);
    // The removal of the remaining files, now that the server responds, must not affect the new start.
    expect((await service.call("POST", `/api/worker/${id}/start`)).status).toBe(204);
    await becomes(id, { status: "installed" });
    expect(await filesOf(id)).not.toEqual([]);
  }, 240_000);
});
