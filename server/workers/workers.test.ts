// Orders to workers, and their effects on processes.
import { mkdir, stat, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Worker, WorkerLog } from "../../contract/workers/worker.ts";
import { patientArtisan } from "../testing/artisan.ts";
import { oneSite, type TestService } from "../testing/service.ts";
import { ownUser } from "../testing/own-user.ts";
import { workerBody } from "../testing/worker-body.ts";
import { isAlive, sendSignal, signalGroup } from "../testing/signals.ts";
import { eachWorkerMachine } from "./testing/each-machine.ts";
import { soon } from "../testing/soon.ts";

let service: TestService;

const artisan = (script: string) => writeFile(join(service.folder, "shop/artisan"), script);

const create = async (change: object = {}, site = 1): Promise<Worker> => {
  const { status, body } = await service.json<Worker>("POST", `/api/site/${site}/worker`, {
    ...workerBody,
    ...change,
  });
  expect(status).toBe(201);
  return body;
};
const show = async (id: number) => (await service.json<Worker>("GET", `/api/worker/${id}`)).body;
const becomes = (id: number, status: string) =>
  soon(async () => {
    const worker = await show(id);
    expect(worker.status).toBe(status);
    return worker;
  });
const ask = async (method: string, path: string) => (await service.call(method, path)).status;
const pids = (worker: Worker) => (worker.process_list ?? []).flatMap(({ pid }) => pid ?? []);

describe.each(eachWorkerMachine())("on $machine", ({ isRemote, isWhole, createService }) => {
  // One service for all tests, because connecting to a remote server takes its time.
  beforeAll(async () => {
    service = await createService({
      inventory: (folder) =>
        `${oneSite(folder)}  - { id: 2, server: 1, name: bare, root: ${folder}/shop, user: ${ownUser}, artisan: no-such-php artisan }\n`,
    });
  });
  afterAll(() => service.close());
  beforeEach(() => artisan(patientArtisan));

  describe("from a request to a process", () => {
    test("a worker is installed once all its processes run the command that it shows", async () => {
      const { id } = await create({ processes: 3, force: true });
      const worker = await becomes(id, "installed");
      expect(worker.process_list).toHaveLength(3);
      expect(pids(worker).every(isAlive)).toBe(true);
      await soon(async () => {
        const { body } = await service.json<WorkerLog>("GET", `/api/worker/${id}/log`);
        expect(body.text).toMatch(/called with queue:work database --queue=default.* --force/);
      });
    });

    test("its processes have their account's environment, and nothing of the service's", async () => {
      await artisan(`env; echo done; ${patientArtisan}`);
      const { id } = await create();
      const environment = await soon(async () => {
        const { body } = await service.json<WorkerLog>("GET", `/api/worker/${id}/log`);
        const [before = "", after] = body.text.split("done\n");
        expect(after).toBeDefined();
        return before.trim().split("\n");
      });
      const { username } = userInfo();
      // Without root, a worker inherits these variables from the service, which may not have them.
      const isOwn = !isRemote && process.getuid?.() !== 0;
      const lines = { HOME: /^HOME=\//, USER: `USER=${username}`, LOGNAME: `LOGNAME=${username}` };
      for (const [name, line] of Object.entries(lines))
        if (!isOwn || process.env[name] !== undefined)
          expect(environment).toContainEqual(expect.stringMatching(line));
      // The variables of the machine and of the shell, and the marks of the process manager.
      const known =
        /^(?:HOME|USER|LOGNAME|PATH|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|PWD|OLDPWD|SHLVL|_|QUARTERDECK_WORKER|SUPERVISOR_\w+)=/;
      expect(environment.filter((line) => !known.test(line))).toEqual([]);
    });

    test("stop ends the processes, start creates new ones, and restart replaces them", async () => {
      const { id } = await create({ processes: 2 });
      const first = pids(await becomes(id, "installed"));

      expect(await ask("DELETE", `/api/worker/${id}/stop`)).toBe(204);
      await becomes(id, "stopped");
      expect(first.some(isAlive)).toBe(false);

      expect(await ask("POST", `/api/worker/${id}/start`)).toBe(204);
      const second = pids(await becomes(id, "installed"));
      expect(second.every(isAlive)).toBe(true);

      expect(await ask("PUT", `/api/worker/${id}/restart`)).toBe(204);
      expect((await show(id)).status).toBe("restarting");
      const third = pids(await becomes(id, "installed"));
      expect(second.some(isAlive)).toBe(false);
      expect(third).toHaveLength(2);
      expect(third.some((pid) => second.includes(pid))).toBe(false);
    });

    test("a process that dies is restarted, and the worker shows that meanwhile", async () => {
      // Longer than the 4 s between polls of supervisord.
      const { id } = await create({ startsecs: 5 });
      const before = await becomes(id, "installed");
      const [pid = 0] = pids(before);
      // supervisord does not end the children of a killed process.
      const end = isRemote ? signalGroup : sendSignal;
      end(pid, "SIGKILL");
      const down = await becomes(id, "restarting");
      expect(down.status_reason).toContain("Process 1");
      const up = await becomes(id, "installed");
      // ISO 8601, so they sort as text.
      expect((up.status_since ?? "") > (before.status_since ?? "")).toBe(true);
      expect(up.process_list?.[0]).toMatchObject({ state: "RUNNING", restarts: 1 });
    });

    if (!isWhole) return;
    test("a new worker is installing, has its defaults, and its response has its location", async () => {
      const response = await service.call("POST", "/api/site/1/worker", {
        ...workerBody,
        startsecs: undefined,
        stopwaitsecs: undefined,
      });
      const worker: Worker = await response.json();
      expect(response.headers.get("Location")).toBe(`/api/worker/${worker.id}`);
      expect(worker).toMatchObject({
        status: "installing",
        processes: 1,
        startsecs: 1,
        startretries: 3,
        stopwaitsecs: 65,
        stopsignal: "TERM",
        directory: join(service.folder, "shop"),
        command:
          "sh artisan queue:work database --queue=default --sleep=3 --tries=1 --timeout=60 --memory=128 --max-jobs=0 --max-time=0",
      });
      expect(worker.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    });

    test("starting a running worker and stopping a stopped one change nothing and are 204", async () => {
      const { id } = await create();
      const before = pids(await becomes(id, "installed"));
      expect(await ask("POST", `/api/worker/${id}/start`)).toBe(204);
      expect(pids(await show(id))).toEqual(before);
      await ask("DELETE", `/api/worker/${id}/stop`);
      await becomes(id, "stopped");
      expect(await ask("DELETE", `/api/worker/${id}/stop`)).toBe(204);
      expect((await show(id)).status).toBe("stopped");
    });

    test("a deleted worker is removing until its processes have ended, then it is missing", async () => {
      const wait = "until [ -e go-on ]; do sleep 0.05; done; exit";
      await artisan(`trap '${wait}' TERM; : > ready; while :; do sleep 0.1; done`);
      const { id } = await create({ stopwaitsecs: 50 });
      const [pid = 0] = pids(await becomes(id, "installed"));
      const at = (name: string) => join(service.folder, "shop", name);
      await soon(() => stat(at("ready")));
      expect(await ask("DELETE", `/api/worker/${id}`)).toBe(204);
      expect((await show(id)).status).toBe("removing");
      expect(await ask("DELETE", `/api/worker/${id}`)).toBe(409);
      expect(await ask("POST", `/api/worker/${id}/start`)).toBe(409);
      await writeFile(at("go-on"), "");
      await soon(async () => expect(await ask("GET", `/api/worker/${id}`)).toBe(404));
      expect(isAlive(pid)).toBe(false);
    });
  });

  describe("a worker that cannot run", () => {
    test("fails its installation with the reason and the last lines of the log", async () => {
      await artisan("echo 'Could not connect to redis:6379'; exit 1");
      const { id } = await create({ startsecs: 1, startretries: 0 });
      const worker = await becomes(id, "failed");
      expect(worker.status_reason).toContain("code 1");
      expect(worker.status_reason).toContain("Could not connect to redis:6379");
    });

    test("fails with the name of a missing command", async () => {
      const { id } = await create({ startretries: 0 }, 2);
      expect((await becomes(id, "failed")).status_reason).toContain("no-such-php");
    });

    if (!isWhole) return;
    test("can be started again after it failed", async () => {
      await artisan("exit 1");
      const { id } = await create({ startsecs: 1, startretries: 0 });
      await becomes(id, "failed");
      await artisan(patientArtisan);
      expect(await ask("POST", `/api/worker/${id}/start`)).toBe(204);
      expect((await becomes(id, "installed")).status_reason).toBeNull();
    });

    test("refuses start, stop and restart while it is installing", async () => {
      const { id } = await create({ startsecs: 30 });
      for (const [method, action] of [
        ["POST", "start"],
        ["DELETE", "stop"],
        ["PUT", "restart"],
      ] as const)
        expect(await ask(method, `/api/worker/${id}/${action}`)).toBe(409);
      expect(await ask("DELETE", `/api/worker/${id}`)).toBe(204);
    });
  });

  test("the log is read from its end, and from an offset on", async () => {
    await artisan("for i in 1 2 3 4 5; do echo line $i; done; exec sleep 300");
    const { id } = await create();
    await becomes(id, "installed");
    const log = async (query: string) =>
      (await service.json<WorkerLog>("GET", `/api/worker/${id}/log?${query}`)).body;
    await soon(async () => expect((await log("lines=1")).text).toBe("line 5\n"));
    const { end } = await log("lines=2");
    expect(await log(`offset=${end}`)).toEqual({ text: "", start: end, end, rotated: false });
    expect((await log("offset=7")).text).toBe("line 2\nline 3\nline 4\nline 5\n");
    for (const query of ["lines=0", "lines=1001", "lines=x", "offset=-1", "lines=1&offset=1"])
      expect(await ask("GET", `/api/worker/${id}/log?${query}`)).toBe(422);
  });

  if (!isWhole) return;
  test("a worker runs in a directory inside the site, which is stored as it was entered", async () => {
    await mkdir(join(service.folder, "shop/current"));
    await writeFile(join(service.folder, "shop/current/artisan"), `pwd; ${patientArtisan}`);
    for (const directory of ["current", join(service.folder, "shop/current")]) {
      const worker = await create({ directory });
      expect(worker.directory).toBe(directory);
      await becomes(worker.id, "installed");
      await soon(async () => {
        const { body } = await service.json<WorkerLog>("GET", `/api/worker/${worker.id}/log`);
        expect(body.text).toContain(`${service.folder}/shop/current\n`);
      });
    }
  });
});
