// Measures workers on servers over SSH, here loopback sshds with a supervisord each: how soon changes there are shown,
// and the cost of polling idle servers.
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Page } from "../contract/paging.ts";
import type { Worker } from "../contract/workers/worker.ts";
import { sshEntry } from "../server/ssh/testing/entry.ts";
import { startSshd } from "../server/ssh/testing/sshd.ts";
import { ownUser } from "../server/testing/own-user.ts";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import { sendSignal } from "../server/testing/signals.ts";
import { workerBody } from "../server/testing/worker-body.ts";
import { startSupervisord } from "../server/workers/supervisord/testing/supervisord.ts";
import { cpuSecondsOf } from "./cpu-seconds.ts";
import { median, note, report } from "./report.ts";

const rounds = 3;
const restSeconds = 60;

/** Pids of running processes, by worker. */
type Pids = ReadonlyMap<number, number>;
type Size = { servers: number; workers: number };

export async function run(size: Size): Promise<void> {
  const servers = Array.from({ length: size.servers }, (_, index) => index + 1);
  const workersOfEach = Math.ceil(size.workers / size.servers);
  const cleanUps: (() => Promise<unknown>)[] = [];
  const later = (work: () => Promise<unknown>) => void cleanUps.push(work);
  try {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-bench-")));
    later(() => rm(folder, { recursive: true, force: true }));
    await chmod(folder, 0o711);
    const entries = await Promise.all(
      servers.map(async (id) => {
        const sshd = await startSshd({ cleanUp: later });
        const supervisord = await startSupervisord();
        later(() => supervisord.close());
        const root = join(folder, `site-${id}`);
        await mkdir(root);
        await writeFile(join(root, "artisan"), "exec sleep 1000000");
        const connection = sshEntry(sshd, undefined, userInfo().username);
        return {
          server: `  - { id: ${id}, name: far-${id}, connection: ${connection}, supervisord_config: ${supervisord.config} }`,
          site: `  - { id: ${id}, server: ${id}, name: site-${id}, root: ${root}, user: ${ownUser}, artisan: [sh, artisan] }`,
        };
      }),
    );
    const lines = (kind: "server" | "site") => entries.map((entry) => entry[kind]).join("\n");
    await writeFile(
      join(folder, "inventory.yaml"),
      `servers:\n${lines("server")}\nsites:\n${lines("site")}\n`,
    );
    const service = await startService(folder, {
      QUARTERDECK_INVENTORY: join(folder, "inventory.yaml"),
    });
    later(() => service.end("SIGINT"));
    const pidsOf = async (sites: readonly number[]): Promise<Pids> => {
      const lists = await Promise.all(sites.map((id) => workersOf(service, id)));
      return new Map(
        lists.flat().flatMap(({ id, process_list: [process] = [] }) => {
          const pid = process?.pid ?? null;
          return pid === null ? [] : [[id, pid] as const];
        }),
      );
    };
    const untilPids = async (sites: readonly number[], isThere: (pids: Pids) => boolean) => {
      while (!isThere(await pidsOf(sites))) await wait(100);
    };
    const post = (site: number) =>
      service.call("POST", `/api/site/${site}/worker`, { ...workerBody, startsecs: 1 });
    // Installs on one server after the other: installing has a deadline, and this machine hosts all servers.
    for (const id of servers) {
      for (let made = 0; made < workersOfEach; made += 1)
        // Refused until the site's account has been found on its server.
        while (!(await post(id)).ok) await wait(100);
      await untilPids([id], (pids) => pids.size === workersOfEach);
    }
    const count = servers.length * workersOfEach;
    const shown = `${count} workers on ${servers.length} servers over SSH`;

    const secondsToShow: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const before = await pidsOf(servers);
      const startedMs = performance.now();
      for (const pid of before.values()) sendSignal(pid, "SIGKILL");
      // Compares each worker with its own old pid, because the kernel may have given that pid to another process.
      const isShown = (pids: Pids) => [...before].every(([id, pid]) => pids.get(id) !== pid);
      await untilPids(servers, isShown);
      secondsToShow.push((performance.now() - startedMs) / 1000);
      await untilPids(servers, (pids) => pids.size === count && isShown(pids));
    }
    report(`${shown}: all were killed, until all show it`, median(secondsToShow), "s", {
      atMost: 5,
    });
    note(`median of ${rounds}, the longest ${Math.max(...secondsToShow).toFixed(2)} s`);

    await wait(5000);
    const before = await cpuSecondsOf(service.pid);
    await wait(restSeconds * 1000);
    const after = await cpuSecondsOf(service.pid);
    const percent = (from = 0, to = 0) => ((to - from) / restSeconds) * 100;
    const own = percent(before.own, after.own);
    const ssh = percent(before.below["ssh"], after.below["ssh"]);
    const commands = percent(before.ended, after.ended);
    report(`${shown}: the service and its ssh at rest`, own + ssh + commands, "% of a core", {
      atMost: 2,
    });
    note(
      `the service ${own.toFixed(2)} %, ssh ${ssh.toFixed(2)} %, commands ${commands.toFixed(2)} %`,
    );
    for (const id of servers)
      for (const worker of await workersOf(service, id))
        await service.call("DELETE", `/api/worker/${worker.id}`);
    await untilPids(servers, (pids) => pids.size === 0);
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
}

async function workersOf(service: ServiceProcess, site: number): Promise<Worker[]> {
  const ask = () => service.call("GET", `/api/site/${site}/workers?per_page=100`);
  let answer = await ask();
  // Some requests fail while the machine is busy with all servers at once.
  while (!answer.ok) {
    await wait(100);
    answer = await ask();
  }
  const page: Page<Worker> = await answer.json();
  return page.data;
}
