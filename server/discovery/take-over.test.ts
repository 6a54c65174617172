// Tests that a worker takes the place of a program of a real supervisord: here, and on a server over SSH.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Discovery } from "../../contract/discovery.ts";
import type { Page } from "../../contract/paging.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { createApp } from "../app.ts";
import { eachMachine, knowsAccount } from "../ssh/testing/remote-server.ts";
import { endsWhenAsked } from "../testing/artisan.ts";
import { inLongForm, inShortFormIf } from "../testing/long-form.ts";
import { ownUser } from "../testing/own-user.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import {
  startSupervisord,
  type TestSupervisord,
} from "../workers/supervisord/testing/supervisord.ts";
import { laravelMissing, makeLaravelSite } from "../workers/testing/laravel-site.ts";
import { soon } from "../testing/soon.ts";

const patience = { timeout: 60_000 };
const run = promisify(execFile);

/**
 * Replaces `artisan`. As a program of supervisord it continues after a stop signal, which it reports in the file `heeds`,
 * until the file `end` exists. As a worker it runs the file `worker`, and waits if there is none.
 */
const artisan = `
wait_for() { until [ -e "$1" ]; do sleep 0.05; done; }
case $SUPERVISOR_PROCESS_NAME in
shop-*) trap 'wait_for end; kill -KILL $! 2>/dev/null; exit 0' TERM; echo >>heeds; while :; do sleep 86400 & wait $!; done ;;
*) [ ! -e worker ] || . ./worker; ${endsWhenAsked().trimEnd()} ;;
esac
`;

describe.each(eachMachine())("on $machine", ({ connectionOf, isWhole }) => {
  let supervisord: TestSupervisord;
  let service: TestService;
  let root: string;
  let file: string;

  beforeAll(async () => {
    supervisord = await startSupervisord();
    const connection = await connectionOf();
    service = await createTestService({
      inventory: (folder) => `
servers:
  - { id: 1, name: web, connection: ${connection}, supervisord_config: ${supervisord.config} }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }
  - { id: 2, server: 1, name: blog, root: ${folder}/blog, user: ${ownUser} }
`,
    });
    await knowsAccount(service);
    root = join(service.folder, "shop");
    file = join(supervisord.programs, "shop.conf");
    await writeFile(join(root, "artisan"), artisan);
  });
  afterAll(async () => {
    await service?.close();
    await supervisord?.close();
  });

  const workersOf = async (site: number) =>
    (await service.json<Page<Worker>>("GET", `/api/site/${site}/workers`)).body.data;
  const show = async (id: number) => (await service.json<Worker>("GET", `/api/worker/${id}`)).body;
  const untilTaken = (id: number, take_over: object) =>
    soon(async () => {
      const worker = await show(id);
      expect(worker.take_over, JSON.stringify(worker)).toMatchObject(take_over);
      return worker;
    });

  /**
   * Adds a program to supervisord, and resolves once it runs. supervisord already counts it as running after the fork, when
   * a signal would be lost because the program is not loaded yet.
   */
  async function addProgram(name: string, options: Record<string, string | number>, more = "") {
    const heeds = join(root, "heeds");
    await rm(heeds, { force: true });
    const lines = Object.entries(options).map(([option, value]) => `${option}=${value}\n`);
    await writeFile(file, `[program:${name}]\n${lines.join("")}${more}`);
    await supervisord.call("reloadConfig");
    await supervisord.call("addProcessGroup", name);
    await expect
      .poll(() => statesOf(name), patience)
      .toEqual(Array.from({ length: Number(options["numprocs"] ?? 1) }, () => "RUNNING"));
    if (options["command"]?.toString().includes(`${root}/artisan`) === true)
      await expect.poll(() => existsSync(heeds), patience).toBe(true);
  }
  const shopProgram = () => ({
    command: `sh ${root}/artisan queue:work database --queue=default`,
    directory: root,
    stopwaitsecs: 90,
    startsecs: 0,
    startretries: 0,
    autorestart: "true",
  });

  async function statesOf(name: string): Promise<unknown[]> {
    const all = await supervisord.call("getAllProcessInfo");
    // The format that supervisord documents.
    return (all as { group: string; statename: string }[])
      .filter(({ group }) => group === name)
      .map(({ statename }) => statename);
  }

  async function find(name: string) {
    const { status, body } = await service.json<Discovery>("GET", "/api/server/1/discovery");
    expect(status, JSON.stringify(body)).toBe(200);
    const found = body.queue_workers.find(({ program }) => program === name);
    if (found === undefined) throw new Error(`${name} was not found`);
    return found;
  }
  const takeOver = (
    { program, file, version }: Discovery["queue_workers"][number],
    more: object = {},
  ) =>
    service.json<Worker & { message: string; errors?: Record<string, string[]> }>(
      "POST",
      "/api/server/1/discovery/take-over",
      { program, file, version, ...more },
    );

  const removeWorkers = (site: number) =>
    soon(async () => {
      const workers = await workersOf(site);
      for (const { id } of workers) await service.call("DELETE", `/api/worker/${id}`);
      expect(workers).toEqual([]);
    });
  afterEach(async () => {
    await rm(join(root, "worker"), { force: true });
    await writeFile(join(root, "end"), "");
    for (const site of [1, 2]) await removeWorkers(site);
    for (const name of ["shop-queue", "laravel-queue"])
      if ((await statesOf(name)).length > 0) {
        await supervisord.call("stopProcessGroup", name);
        await supervisord.call("removeProcessGroup", name);
      }
    await rm(join(root, "end"));
    await rm(file, { force: true });
    await supervisord.call("reloadConfig");
  });

  // PHP behaves the same, wherever its supervisord is.
  const laravel = isWhole && laravelMissing === null ? ["a Laravel site"] : [];
  test.each(laravel)(
    "does each job of %s once while one of its programs is taken over",
    async () => {
      const site = await makeLaravelSite(join(service.folder, "blog"));
      await addProgram("laravel-queue", {
        command: `php ${site.folder}/artisan queue:work database --sleep=1 --tries=1 --timeout=60`,
        process_name: "%(program_name)s_%(process_num)02d",
        numprocs: 2,
        stopwaitsecs: 65,
        autorestart: "true",
        redirect_stderr: "true",
        stdout_logfile: join(service.folder, "laravel.log"),
      });
      const { body: all } = await service.json<Discovery>("GET", "/api/server/1/discovery");
      const place = { user: ownUser, name: "blog" };
      expect(all.sites).toContainEqual({ ...place, root: site.folder, site_id: 2 });
      const path = join(site.folder, "database/database.sqlite");
      expect(all.sqlite_files).toContainEqual({ ...place, path, database_id: null });
      const found = await find("laravel-queue");
      expect(found).toMatchObject({
        site_id: 2,
        running: 2,
        refusal: null,
        worker: null,
        differences: [expect.stringContaining("laravel.log")],
      });
      const names = await site.dispatch(10, 0.5);
      await expect.poll(() => site.begun(), patience).not.toEqual([]);

      const refused = await takeOver(found);
      expect(refused.status).toBe(422);
      expect(Object.keys(refused.body.errors ?? {})).toEqual(["accept_differences"]);
      const incomplete = await takeOver(found, { accept_differences: true });
      expect(incomplete.body.errors).toEqual({ queue: ["The queue field is required."] });
      expect(await workersOf(2)).toEqual([]);

      const { status, body } = await takeOver(found, {
        accept_differences: true,
        queue: "default",
      });
      expect(status, JSON.stringify(body)).toBe(202);
      expect(body).toMatchObject({
        status: "installing",
        processes: 2,
        tries: 1,
        take_over: { program: "laravel-queue", status: "waiting", reason: null },
      });
      // Jobs arrive continuously.
      await soon(async () => {
        names.push(...(await site.dispatch(2, 0.3)));
        expect((await show(body.id)).take_over?.status).toBe("finished");
      });
      expect((await show(body.id)).status).toBe("installed");
      expect(await statesOf("laravel-queue")).toEqual(["STOPPED", "STOPPED"]);
      names.push(...(await site.dispatch(4, 0)));
      await expect.poll(async () => (await site.done()).length, patience).toBe(names.length);
      expect((await site.begun()).toSorted()).toEqual(names.toSorted());
      expect((await site.done()).toSorted()).toEqual(names.toSorted());
      // The program that runs the worker is not listed by itself.
      const after = await service.json<Discovery>("GET", "/api/server/1/discovery");
      expect(
        after.body.queue_workers.flatMap(({ program, worker }) =>
          worker?.id === body.id ? [program] : [],
        ),
      ).toEqual(["laravel-queue"]);
    },
    120_000,
  );

  inShortFormIf(!isWhole, () => {
    test("waits when supervisord becomes unavailable in the middle", async () => {
      await addProgram("shop-queue", shopProgram());
      const { body } = await takeOver(await find("shop-queue"));
      await untilTaken(body.id, { status: "stopping" });
      // supervisord waits for the program's job before it exits.
      const stopped = supervisord.stop();
      // Over SSH, supervisord runs the worker, too.
      await soon(async () => {
        const { status, take_over: taken } = await show(body.id);
        expect(`${status} ${taken?.reason}`).toMatch(/^unreachable|supervisord is /);
      });
      await writeFile(join(root, "end"), "");
      await stopped;
      await supervisord.start();
      await untilTaken(body.id, { status: "finished", reason: null });
      await soon(async () => expect((await show(body.id)).status).toBe("installed"));
      expect(await statesOf("shop-queue")).toEqual(["STOPPED"]);
    });
  });

  if (!isWhole) return;

  test("continues after a restart of the service in the middle, and takes a program over once for concurrent requests", async () => {
    await addProgram("shop-queue", shopProgram());
    const found = await find("shop-queue");
    const asked = await Promise.all([takeOver(found), takeOver(found), takeOver(found)]);
    expect(asked.map(({ status }) => status)).toEqual([202, 202, 202]);
    const { id } = asked[0].body;
    expect(asked.map(({ body }) => body.id)).toEqual([id, id, id]);
    expect(await workersOf(1)).toHaveLength(1);
    const restart = async () => {
      await service.app.close("keep");
      service.app = await createApp(service.options);
    };
    await restart();
    // The program has received the stop signal, and finishes its job.
    await untilTaken(id, { status: "stopping", commands: [] });
    await expect.poll(() => statesOf("shop-queue"), patience).toEqual(["STOPPING"]);
    await restart();
    expect((await find("shop-queue")).worker).toEqual({ id, take_over: "stopping" });
    await writeFile(join(root, "end"), "");
    const { take_over: taken } = await untilTaken(id, { status: "finished", reason: null });
    expect(await statesOf("shop-queue")).toEqual(["STOPPED"]);

    // A user starts the program again, and requests another take-over.
    await supervisord.call("startProcess", "shop-queue");
    expect(await find("shop-queue")).toMatchObject({ running: 1, worker: { id } });
    expect((await takeOver(await find("shop-queue"))).body.id).toBe(id);
    await soon(async () => expect(await statesOf("shop-queue")).toEqual(["STOPPED"]));
    await untilTaken(id, { status: "finished" });

    // The commands do what is left to do.
    for (const command of taken?.commands ?? [])
      await run("sh", ["-c", command.replace(/^sudo /, "")]);
    await expect(readFile(file)).rejects.toThrow("ENOENT");
    expect(await readFile(`${file}.before`, "utf8")).toContain("[program:shop-queue]");
    expect(await statesOf("shop-queue")).toEqual([]);
    // Afterwards nothing is left to do.
    await service.ahead(60_000);
    await untilTaken(id, { status: "finished", commands: [] });
    const { body: entries } = await service.json<{ data: { action: string }[] }>(
      "GET",
      "/api/activity?kind=worker",
    );
    expect(entries.data.map(({ action }) => action)).toContain("took over");
  });

  inLongForm(() => {
    test("leaves the program running if the worker does not come up", async () => {
      await writeFile(join(root, "worker"), "exit 1");
      await addProgram("shop-queue", { ...shopProgram(), startsecs: 1 });
      const { body } = await takeOver(await find("shop-queue"));
      const { take_over: taken } = await untilTaken(body.id, { status: "failed", commands: [] });
      expect(taken?.reason).toBe(`Worker ${body.id} is failed. shop-queue was left as it is.`);
      expect(await statesOf("shop-queue")).toEqual(["RUNNING"]);
      // Once the cause is fixed, the take-over continues with the same worker.
      await rm(join(root, "worker"));
      await writeFile(join(root, "end"), "");
      await service.call("POST", `/api/worker/${body.id}/start`);
      expect((await takeOver(await find("shop-queue"))).body.id).toBe(body.id);
      await untilTaken(body.id, { status: "finished" });
      expect(await statesOf("shop-queue")).toEqual(["STOPPED"]);
    });
  });

  test("does not stop a program that was put in its place meanwhile", async () => {
    // The worker comes up once the other program is there.
    await writeFile(join(root, "worker"), "[ -e end ] || exit 1");
    await addProgram("shop-queue", { ...shopProgram(), startsecs: 1, startretries: 50 });
    const { body } = await takeOver(await find("shop-queue"));
    await writeFile(file, `[program:shop-queue]\ncommand=sleep 100\nautorestart=true\n`);
    await supervisord.call("reloadConfig");
    await writeFile(join(root, "end"), "");
    const { take_over: taken } = await untilTaken(body.id, { status: "failed" });
    expect(taken?.reason).toContain("runs another command by now");
    expect(await statesOf("shop-queue")).toEqual(["RUNNING"]);
  });

  test("refuses a program that has changed since it was found, and finishes with one that was stopped by hand", async () => {
    await writeFile(join(root, "end"), "");
    await addProgram("shop-queue", shopProgram(), "[program:other]\ncommand=sleep 100\n");
    const found = await find("shop-queue");
    await writeFile(file, (await readFile(file, "utf8")).replace("default", "high"));
    const changed = await takeOver(found);
    expect([changed.status, changed.body.message]).toEqual([
      409,
      `shop-queue has changed in ${file}. Scan the server again.`,
    ]);
    const unread = await takeOver(await find("shop-queue"));
    expect(unread.status).toBe(409);
    expect(unread.body.message).toContain("supervisord runs another command for it");
    await writeFile(file, (await readFile(file, "utf8")).replace("high", "default"));
    expect(await workersOf(1)).toEqual([]);

    await supervisord.call("stopProcess", "shop-queue");
    const stopped = await find("shop-queue");
    expect(stopped.running).toBe(0);
    const { body } = await takeOver(stopped);
    const { take_over: taken } = await untilTaken(body.id, { status: "finished" });
    // The other section of its file is kept.
    for (const command of taken?.commands ?? [])
      await run("sh", ["-c", command.replace(/^sudo /, "")]);
    expect(await readFile(file, "utf8")).toBe("[program:other]\ncommand=sleep 100\n");
  });

  test("lists a program of two files once, as supervisord joins them, and refuses to take it over", async () => {
    const copy = file.replace("shop.conf", "shop-old.conf");
    await writeFile(copy, "[program:shop-queue]\ncommand=php artisan queue:work\nstartsecs=7\n");
    onTestFinished(() => rm(copy, { force: true }));
    await addProgram("shop-queue", shopProgram());
    const { body } = await service.json<Discovery>("GET", "/api/server/1/discovery");
    expect(body.queue_workers).toMatchObject([
      { program: "shop-queue", file, running: 1, settings: { startsecs: 0 } },
    ]);
    const refused = await takeOver(await find("shop-queue"));
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `It is in ${copy} as well, from where supervisord would start it again. Keep it in one file, then scan the server again.`,
    ]);

    await rm(copy);
    expect((await find("shop-queue")).refusal).toBeNull();
  });

  test("says what to do if supervisord cannot be reached", async () => {
    await addProgram("shop-queue", shopProgram());
    await writeFile(join(root, "end"), "");
    await supervisord.stop();
    try {
      const found = await find("shop-queue");
      expect(found.running).toBeNull();
      expect(found.refusal).toContain("Start it on the server: systemctl start supervisor");
      const { status, body } = await takeOver(found);
      expect([status, body.message]).toEqual([409, found.refusal]);
      expect(await workersOf(1)).toEqual([]);
    } finally {
      await supervisord.start();
    }
  });

  inLongForm(() => {
    test("creates another worker if the program now runs another command than the one that was taken over", async () => {
      await writeFile(join(root, "end"), "");
      await addProgram("shop-queue", shopProgram());
      const { body: first } = await takeOver(await find("shop-queue"));
      await untilTaken(first.id, { status: "finished" });
      await supervisord.call("removeProcessGroup", "shop-queue");
      const command = `sh ${root}/artisan queue:work database --queue=high`;
      await addProgram("shop-queue", { ...shopProgram(), command });
      expect(await find("shop-queue")).toMatchObject({ running: 1, worker: null });
      const { body: second } = await takeOver(await find("shop-queue"));
      expect(second).toMatchObject({ queue: "high" });
      expect(second.id).not.toBe(first.id);
      await untilTaken(second.id, { status: "finished" });
      expect(await statesOf("shop-queue")).toEqual(["STOPPED"]);
      expect(await find("shop-queue")).toMatchObject({ worker: { id: second.id } });
      // The first worker's take-over no longer reports the program.
      expect((await show(first.id)).take_over).toMatchObject({ status: "finished", commands: [] });
    });
  });
});
