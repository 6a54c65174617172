// Compares backups and restores with bare pipelines that do the same work on the same disk, and measures their memory.
import { chmod, mkdir, mkdtemp, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import type { Backup } from "../contract/backups/backup.ts";
import { trustedTimes } from "../server/backups/sources/folder/state.ts";
import { startPostgresServer } from "../server/backups/testing/postgres-server.ts";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import { megabyte, writeHalfRandom, writeOrders } from "./backup-data.ts";
import { watchCpu } from "./cpu-seconds.ts";
import { watchMemory } from "./memory.ts";
import { install, restore, takeBackup } from "./drive-backups.ts";
import { median, note, report, seconds } from "./report.ts";
import { shellMs } from "./shell-ms.ts";
import { ownUser } from "../server/testing/own-user.ts";

const usualSizes = [100, 2000];
/** The folder for runs without changes; its size is in MB. */
const unchanged = { id: usualSizes.length + 1, size: 770 };
/** Id of the storage provider whose backups are encrypted. */
const sealed = 2;

/** @param size of a folder and of a database in MB; default: the usual sizes, one after the other */
export async function run(size?: number): Promise<void> {
  const sizes = size === undefined ? usualSizes : [size];
  const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-bench-")));
  const postgres = await startPostgresServer();
  try {
    // When run as root, the database runs as another account, which needs access to its folder.
    await chmod(folder, 0o711);
    await mkdir(join(folder, "copies"));
    await mkdir(join(folder, "sealed"));
    const identity = await generateX25519Identity();
    const recipient = await identityToRecipient(identity);
    const databases = sizes.map((size) => ({ size, name: `size_${size}` }));
    for (const { name } of databases) await postgres.createDatabase(name);
    await writeFile(
      join(folder, "inventory.yaml"),
      `
servers: [{ id: 1, name: here, connection: local }]
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
  - { id: ${sealed}, name: sealed, type: local, path: ${folder}/sealed, recipients: [${recipient}] }
sites:
${sizes.map((size, index) => `  - { id: ${index + 1}, server: 1, name: site-${size}, root: ${folder}/site-${size}, user: ${ownUser} }`).join("\n")}
  - { id: ${unchanged.id}, server: 1, name: unchanged, root: ${folder}/unchanged, user: ${ownUser} }
databases:
${databases.map(({ name }, index) => `  - { id: ${index + 1}, server: 1, name: ${name}, engine: postgres, url: "env:URL_${name}" }`).join("\n")}
`,
    );
    const service = await startService(folder, {
      QUARTERDECK_INVENTORY: join(folder, "inventory.yaml"),
      ...Object.fromEntries(databases.map(({ name }) => [`URL_${name}`, postgres.url(name)])),
    });
    try {
      await mkdir(join(folder, "unchanged"));
      for (let file = 0; file < unchanged.size; file++)
        await writeHalfRandom(join(folder, "unchanged", `${file}`), megabyte);
      const settled = untilSettled();
      for (const [index, size] of sizes.entries()) {
        const measured = { service, folder, identity, targetId: index + 1, size };
        await measureSite(measured);
        await measureDatabase(measured, postgres);
      }
      await settled;
      await measureUnchanged(service, join(folder, "unchanged"));
    } finally {
      await service.end("SIGINT");
    }
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const isLarge = (size: number) => size > 500;
const roundsFor = (size: number) => (isLarge(size) ? 3 : 5);
/** Compared with the bare pipelines: the fixed cost of a run weighs more for small sources. */
const aimsFor = (size: number) =>
  isLarge(size) ? { backup: 1.1, restore: 1.15 } : { backup: 1.25, restore: 1.4 };

type Measured = {
  service: ServiceProcess;
  folder: string;
  /** Private key of the encrypted backups. */
  identity: string;
  targetId: number;
  /** In MB. */
  size: number;
};

async function measureSite(measured: Measured): Promise<void> {
  const { folder, size } = measured;
  const root = join(folder, `site-${size}`);
  await mkdir(root);
  // Half of it is compressible, like scripts and logs; the other half is not, like pictures.
  const files = 100;
  for (let count = 0; count < files; count++)
    await writeHalfRandom(join(root, `${count}`), (size * megabyte) / files);
  const bare = join(folder, "bare.tar.zst");
  await compare(measured, `site folder, ${size} MB`, "site", {
    backup: `tar -cf - -C ${root} . | zstd -q -3 -o ${bare} -f && sync ${bare}`,
    prepare: async () => {
      await rename(root, `${root}.away`);
    },
    restore: `mkdir ${root} && zstd -q -dc ${bare} | tar -xpf - -C ${root} && sync -f ${root}`,
    undo: async () => {
      await rm(root, { recursive: true });
      await rename(`${root}.away`, root);
    },
    environment: {},
  });
  await rm(root, { recursive: true });
}

async function measureUnchanged(service: ServiceProcess, root: string): Promise<void> {
  const ms: Record<string, number[]> = {};
  const stored: Record<string, number[]> = {};
  const measure = async (configuration: number, run: string) => {
    const { backup, tookMs } = await takeBackup(service, configuration, `${run} of the unchanged`);
    (ms[run] ??= []).push(tookMs);
    (stored[run] ??= []).push(backup.size);
  };
  const rounds = roundsFor(unchanged.size);
  let last = 0;
  for (let round = 0; round < rounds; round++) {
    const options = { hold: 100, incremental: true };
    last = (await install(service, "site", unchanged.id, options)).id;
    for (const run of ["full", "second run", "third run"]) await measure(last, run);
  }
  await writeHalfRandom(join(root, "changed"), megabyte);
  await untilSettled();
  await measure(last, "changed");
  for (let round = 0; round < rounds; round++) await measure(last, "run after a change");

  for (const run of ["second run", "third run", "run after a change"]) {
    const what = `site folder, ${unchanged.size} MB: unchanged, ${run}`;
    report(what, median(ms[run] ?? []) / 1000, "s", { atMost: 1 });
    const share = median(stored[run] ?? []) / median(stored["full"] ?? []);
    report(`${what}, stored`, share * 100, "%", { atMost: 1 });
  }
  note(`the full ones ${seconds(ms["full"] ?? [])}, the one read ${seconds(ms["changed"] ?? [])}`);
}

/** File times are trusted only after this wait, because the files were just written. */
const untilSettled = () => wait((trustedTimes.settledSeconds + 1) * 1000);

async function measureDatabase(
  measured: Measured,
  postgres: Awaited<ReturnType<typeof startPostgresServer>>,
): Promise<void> {
  const { folder, size } = measured;
  const name = `size_${size}`;
  await writeOrders(postgres, name, size);
  const bare = join(folder, "bare.dump.zst");
  const url = new URL(postgres.url(name));
  const environment = {
    PGHOST: url.hostname,
    PGPORT: url.port,
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    PGDATABASE: name,
  };
  await compare(measured, `PostgreSQL, ${size} MB`, "database", {
    backup: `pg_dump -Fc -Z0 | zstd -q -3 -o ${bare} -f && sync ${bare}`,
    prepare: async () => {
      await postgres.query(name, "drop table orders");
    },
    restore: `zstd -q -dc ${bare} | pg_restore --single-transaction -d ${name}`,
    undo: async () => undefined,
    environment,
  });
}

type Bare = {
  backup: string;
  /** Removes what is to be restored. */
  prepare(): Promise<void>;
  restore: string;
  undo(): Promise<void>;
  environment: Record<string, string>;
};

async function compare(
  { service, folder, identity, targetId, size }: Measured,
  what: string,
  type: "database" | "site",
  bare: Bare,
): Promise<void> {
  const configuration = await install(service, type, targetId);
  const encrypted = await install(service, type, targetId, { provider: sealed });
  const rounds = roundsFor(size);
  const own: number[] = [];
  const other: number[] = [];
  const encryptedMs: number[] = [];
  const peaks: number[] = [];
  const cpu = watchCpu(service.pid);
  let last: Backup | null = null;
  let lastEncrypted: Backup | null = null;
  for (let round = 0; round < rounds; round++) {
    await cpu.ofBare(async () => other.push(await shellMs(bare.backup, bare.environment)));
    const watch = await watchMemory(service.pid);
    await cpu.ofOwn(async () => {
      const { backup, tookMs } = await takeBackup(service, configuration.id);
      last = backup;
      own.push(tookMs);
    });
    peaks.push(await watch());
    const sealedRun = await takeBackup(service, encrypted.id);
    lastEncrypted = sealedRun.backup;
    encryptedMs.push(sealedRun.tookMs);
  }
  const ratio = median(own) / median(other);
  report(`${what}: backup against the bare pipeline`, ratio, "×", {
    atMost: aimsFor(size).backup,
  });
  note(`${seconds(own)} against ${seconds(other)} (medians of ${rounds}); ${cpu.told()}`);
  report(`${what}: encrypted against unencrypted`, median(encryptedMs) / median(own), "×", {
    atMost: 1.15,
  });
  note(`${seconds(encryptedMs)} against ${seconds(own)}`);
  report(`${what}: memory above rest while it runs`, Math.max(...peaks), "MB", { atMost: 96 });
  if (last === null || lastEncrypted === null) return;

  const restoredMs: number[] = [];
  const reversedMs: number[] = [];
  const encryptedRestoreMs: number[] = [];
  const { id: restored } = last;
  const { id: restoredEncrypted } = lastEncrypted;
  const restoreCpu = watchCpu(service.pid);
  for (let round = 0; round < rounds; round++) {
    await bare.prepare();
    await restoreCpu.ofBare(async () =>
      reversedMs.push(await shellMs(bare.restore, bare.environment)),
    );
    await bare.undo();
    await bare.prepare();
    await restoreCpu.ofOwn(async () => restoredMs.push((await restore(service, restored)).tookMs));
    await bare.undo();
    await bare.prepare();
    encryptedRestoreMs.push((await restore(service, restoredEncrypted, identity)).tookMs);
    await bare.undo();
  }
  report(
    `${what}: restore against the bare reverse`,
    median(restoredMs) / median(reversedMs),
    "×",
    { atMost: aimsFor(size).restore },
  );
  note(
    `${seconds(restoredMs)} against ${seconds(reversedMs)} (medians of ${rounds}); ${restoreCpu.told()}`,
  );
  report(
    `${what}: restore, encrypted against unencrypted`,
    median(encryptedRestoreMs) / median(restoredMs),
    "×",
    { atMost: 1.15 },
  );
  note(`${seconds(encryptedRestoreMs)} against ${seconds(restoredMs)}`);
  for (const { id } of [configuration, encrypted])
    await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
  await rm(join(folder, "bare.tar.zst"), { force: true });
}
