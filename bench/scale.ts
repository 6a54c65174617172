// Measures three instances on a database with years of data: response times under 50 users, many runs due at once, and pruning.
import { loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { median, note, report } from "./report.ts";
import { measureLooks, measureSameMinute } from "./scale-due.ts";
import { startScaleService, type ScaleService, type Usage } from "./scale-instances.ts";
import { kindNames, pathsOf, startUsers, type Times } from "./scale-load.ts";
import { measurePruning } from "./scale-pruning.ts";
import { partOf, type Scale } from "./scale-rows.ts";

const restMs = 60_000;
const pollingMs = 120_000;
const askedEach = 50;
const askedFirst = 20;

/** @param share of the full scale, e.g. 0.1 for a trial */
export async function run(share: number): Promise<void> {
  const scale = partOf(share);
  const startedMs = performance.now();
  const service = await startScaleService(scale);
  try {
    note(
      `seeded in ${((performance.now() - startedMs) / 1000).toFixed(0)} s: ${JSON.stringify(scale)}`,
    );
    // Lets the instances settle after their start.
    await wait(20_000);
    await measureLooks(service);
    await during(service, "nobody looks", () => wait(restMs));
    await warmUp(service, scale);
    const users = startUsers(service.instances, service.databaseUrl, scale);
    const used = await during(service, "50 users", () => wait(pollingMs));
    const times = await users.stop();
    reportAnswers(times);
    const answers = [...times.values()].reduce((sum, one) => sum + one.answers.length, 0);
    note(
      `CPU of each answer: the instances ${((used.service * 1000) / answers).toFixed(1)} ms, the database ${((used.database * 1000) / answers).toFixed(1)} ms with that of the bare query`,
    );
    await measureCosts(service, scale);
    await measureMetrics(service);
    const others = startUsers(service.instances, service.databaseUrl, scale);
    await during(service, "50 users, and old rows go", () => measurePruning(service));
    noteAnswers(await others.stop());
    await during(service, `${scale.configurations} due at once`, () =>
      measureSameMinute(service, scale.configurations),
    );
  } finally {
    await service.stop();
  }
}

const quantile = (values: readonly number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;

function reportAnswers(times: Times): void {
  for (const name of kindNames) {
    const { answers = [], bare = [] } = times.get(name) ?? {};
    report(`${name}: p99 of ${answers.length} answers`, quantile(answers, 0.99), "ms", {
      atMost: 100,
    });
    const ratio = median(answers) / median(bare);
    note(
      `median ${median(answers).toFixed(1)} ms; the bare query ${median(bare).toFixed(1)} ms, p99 ${quantile(bare, 0.99).toFixed(1)} ms: ${ratio.toFixed(1)}×`,
    );
  }
}

const noteAnswers = (times: Times): void =>
  note(
    `meanwhile the answers' p99: ${kindNames.map((name) => `${name} ${quantile(times.get(name)?.answers ?? [], 0.99).toFixed(0)} ms`).join(", ")}`,
  );

/** Prints the resources that some work used, and the load of the machine. @returns seconds of CPU */
async function during(
  service: ScaleService,
  what: string,
  work: () => Promise<unknown>,
): Promise<{ service: number; database: number }> {
  const before = await service.usage();
  await work();
  const after = await service.usage();
  const seconds = (after.atMs - before.atMs) / 1000;
  const each = (key: keyof Usage) => (after[key] - before[key]) / seconds;
  const columns = [
    `CPU of the instances ${(each("serviceCpuSeconds") * 100).toFixed(0)} %`,
    `of the database ${(each("databaseCpuSeconds") * 100).toFixed(0)} %`,
    `memory ${after.serviceMb.toFixed(0)} MB and ${after.databaseMb.toFixed(0)} MB`,
    `${after.connections} connections`,
    `${each("queries").toFixed(0)} queries and ${each("commits").toFixed(0)} commits a second`,
    `load of the machine ${loadavg()[0]?.toFixed(1)}`,
  ];
  note(`${what}, ${seconds.toFixed(0)} s: ${columns.join(", ")}`);
  return {
    service: after.serviceCpuSeconds - before.serviceCpuSeconds,
    database: after.databaseCpuSeconds - before.databaseCpuSeconds,
  };
}

/** Requests everything once from each instance, so that no measured response is a first one. */
async function warmUp({ instances }: ScaleService, scale: Scale): Promise<void> {
  for (const instance of instances)
    for (const paths of pathsOf(scale, askedFirst).values())
      for (const path of paths) await (await instance.call("GET", path)).arrayBuffer();
}

/** Measures the CPU time of each response, with one client that sends its requests to one instance. */
async function measureCosts(service: ScaleService, scale: Scale): Promise<void> {
  for (const [name, paths] of pathsOf(scale, askedEach)) {
    const before = await service.usage();
    for (const path of paths) await (await service.instances[0]?.call("GET", path))?.arrayBuffer();
    const after = await service.usage();
    const each = (key: keyof Usage) => (after[key] - before[key]) / paths.length;
    note(
      `${name}, one after the other: CPU of the instance ${(each("serviceCpuSeconds") * 1000).toFixed(1)} ms, of the database ${(each("databaseCpuSeconds") * 1000).toFixed(1)} ms; ${each("queries").toFixed(1)} queries, ${each("atMs").toFixed(0)} ms`,
    );
  }
}

async function measureMetrics({ instances }: ScaleService): Promise<void> {
  const times: number[] = [];
  for (let count = 0; count < 5; count++) {
    const startedMs = performance.now();
    await (await instances[0]?.call("GET", "/metrics"))?.arrayBuffer();
    times.push(performance.now() - startedMs);
  }
  report("/metrics (median of 5)", median(times), "ms", { atMost: 1000 });
}
