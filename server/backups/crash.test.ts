// Kills the service at random moments of runs and restores. Finished backups must be complete, others must leave nothing,
// and a target must have the old or the new content.
import { createHash } from "node:crypto";
import { readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import { keysOf } from "../../contract/keys-of.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";
import { storedFilesIn } from "../storage/testing/stored-files.ts";
import { isLongForm } from "../testing/long-form.ts";
import { makeMemoryFolder } from "../testing/memory-folder.ts";
import { makeRandom, makeSeed } from "../testing/random.ts";
import { administer, createDatabase, databaseUrl } from "../testing/service.ts";
import { startService, type ServiceProcess } from "../testing/service-process.ts";
import { soon } from "../testing/soon.ts";
import { nightly } from "./testing/backup-service.ts";
import { createKillTargets, stored, type Target } from "./testing/kill-targets.ts";
import { hasPostgresServer } from "./testing/postgres-server.ts";

/**
 * Kills in runs and imports of each kind of source, and as many in restores. `npm run soak -- kills` has 30, and all kinds;
 * `npm test` one kill, in a run of some kinds and in a restore of the others.
 */
const rounds = Number(process.env["CRASH_ROUNDS"] ?? 0.5);
const seed = makeSeed();
const random = makeRandom(seed);

const remote = createRemoteServer();
const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
let database: string;
let folder: string;
let service: ServiceProcess;
let sources: Awaited<ReturnType<typeof createKillTargets>>;

const start = async () => {
  const secrets = { ...sources.secrets, DRILL: identity };
  service = await startService(folder, { DATABASE_URL: databaseUrl(database), ...secrets });
};

beforeAll(async () => {
  database = await createDatabase();
  folder = await realpath(await makeMemoryFolder("quarterdeck-crash-"));
  sources = await createKillTargets(folder, await remote.connection());
  const sealing = `recipients: [${recipient}], drill_identity: env:DRILL`;
  await writeFile(join(folder, "inventory.yaml"), sources.inventory(sealing));
  await start();
});
afterAll(async () => {
  await service.end("SIGINT");
  await sources.stop();
  await administer(`drop database ${database} with (force)`);
  await rm(folder, { recursive: true, force: true });
});

const get = async <Body>(path: string): Promise<Body> => (await service.call("GET", path)).json();
const show = (id: number) => get<BackupConfiguration>(`/api/backup-configuration/${id}`);

type Kind = keyof (typeof sources)["targets"];
const targetOf = (kind: Kind): Target => sources.targets[kind];

/** Returns all configurations, including those that imports made. */
async function listConfigurations(): Promise<number[]> {
  const lists = await Promise.all(
    [1, 2, 3, 4, 5, 6].map((id) =>
      get<{ data: BackupConfiguration[] }>(`/api/server/${id}/backups?per_page=100`),
    ),
  );
  return lists.flatMap(({ data }) => data.map(({ id }) => id));
}

/** Ids of all copies seen, because a copy whose run was deleted is in no list. */
const copyIds = new Set<number>();

const expectSettled = ({ id, status, restore_status, output }: Backup) => {
  expect(["finished", "failed"], `backup ${id}: ${output}`).toContain(status);
  expect(restore_status, `restore of ${id}`).not.toBe("running");
};

/** Waits until all tasks have ended. @returns all backups of all configurations, and their copies */
async function settled(ids: readonly number[]): Promise<Backup[]> {
  // Waits for one after the other, because polling all would take CPU time from the tasks.
  for (const id of ids)
    for (const run of (await show(id)).backups)
      await soon(async () => {
        const answer = await service.call("GET", `/api/backup/${run.id}`);
        // Retention may have removed it meanwhile.
        if (answer.status !== 404) expectSettled(await answer.json());
      });
  return soon(async () => {
    const runs = (await Promise.all(ids.map(show))).flatMap((one) => one.backups);
    const shown = await Promise.all(runs.map(({ id }) => get<Backup>(`/api/backup/${id}`)));
    for (const { id } of shown.flatMap((one) => one.copies ?? [])) copyIds.add(id);
    const copies = await Promise.all(
      [...copyIds].map(async (id) => {
        const answer = await service.call("GET", `/api/backup/${id}`);
        const copy: Backup | null = answer.status === 404 ? null : await answer.json();
        return copy ?? [];
      }),
    );
    const backups = [...shown, ...copies.flat()];
    backups.forEach(expectSettled);
    return backups;
  });
}

/** Expects in each storage exactly the files of finished backups, byte for byte. */
async function expectHonestStorage(backups: readonly Backup[]): Promise<void> {
  const finished = backups.filter(({ status }) => status === "finished");
  const folders = { [stored.disk]: "copies", [stored.sealed]: "sealed", [stored.second]: "second" };
  const inStorage = { ...folders, [stored.brought]: "brought" };
  for (const [provider, name] of Object.entries(inStorage)) {
    const own = finished.filter((one) => one.storage_provider_id === Number(provider));
    const paths = own.map(({ path }) => path);
    await soon(async () => {
      const files = await storedFilesIn(join(folder, name));
      expect(files.filter((path) => !path.startsWith("v0-"))).toEqual(paths.sort());
    });
    for (const { path, checksum } of own) {
      const file = await readFile(join(folder, name, path));
      expect(createHash("sha256").update(file).digest("hex"), path).toBe(checksum);
      const manifest = await readFile(join(folder, name, `${path}.json`), "utf8");
      expect(JSON.parse(manifest)).toMatchObject({ sha256: checksum, size: file.length });
    }
  }
  expect(finished.length).toBeGreaterThan(0);
}

async function install(kind: Kind): Promise<number> {
  const { server, id: source, ways } = targetOf(kind);
  const body = { ...nightly, name: kind, hold: 3, ...source, ...ways };
  const response = await service.call("POST", `/api/server/${server}/backup-configuration`, body);
  const { id }: BackupConfiguration = await response.json();
  await soon(async () => expect((await show(id)).status).toBe("installed"));
  return id;
}

/** Draws a random task for a source. */
function draw(kind: Kind, { configuration, good }: { configuration: number; good: Backup }) {
  const { id, bring, part, ways } = targetOf(kind);
  const at = `/api/${id.backupable_type}/${id.backupable_id}`;
  const ask = (method: string, path: string, body?: unknown) => () =>
    service.call(method, path, body);
  const key = ways["storage_provider_id"] === stored.sealed ? { identity } : {};
  const isSmall = random() < 0.4;
  return {
    take:
      isSmall && bring !== null
        ? ask("POST", `${at}/import`, {
            storage_provider_id: stored.brought,
            path: `v0-${id.backupable_type}-${id.backupable_id}`,
          })
        : ask("POST", `/api/backup/${configuration}`),
    restore: isSmall
      ? ask("POST", `${at}/restore`, { backup_id: good.id, ...part, ...key })
      : ask("PUT", `/api/backup/${good.id}`, key),
  };
}

/**
 * Kinds for the long form only: SQLite is covered over SSH, and the tests of MariaDB and of whole servers kill or abort
 * their own restores.
 */
const alike = new Set<Kind>(["SQLite", "MariaDB", "PostgreSQL server"]);

type Hit = {
  kind: Kind;
  isRestore: boolean;
  good: number;
  before: string;
  afterMs: number;
  ask: () => Promise<Response>;
};

test(
  `loses, truncates and leaves behind nothing over kills in runs, imports and restores of each kind, ${2 * rounds} in all (CRASH_SEED=${seed})`,
  // A kill is detected by missing heartbeats, up to 30 s later.
  { timeout: 540_000 + rounds * 2 * 120_000 },
  async ({ onTestFailed }) => {
    let progress = "the first backups";
    onTestFailed(
      () =>
        void process.stderr.write(
          `It had come to ${progress}. The service said:\n${service.output()}\n`,
        ),
    );
    const kinds = keysOf(sources.targets).filter(
      (kind) =>
        (!kind.startsWith("PostgreSQL") || hasPostgresServer) && (isLongForm || !alike.has(kind)),
    );
    const ids = new Map<Kind, number>();
    for (const kind of kinds) {
      const { write, bring, id } = targetOf(kind);
      await write("v0");
      await bring?.(join(folder, "brought", `v0-${id.backupable_type}-${id.backupable_id}`));
      ids.set(kind, await install(kind));
    }
    // Usual durations with the others running, so that kills hit all phases.
    const usualMs = new Map<Kind, number>();
    const measure = async (kind: Kind, id: number) => {
      const startedMs = performance.now();
      await service.call("POST", `/api/backup/${id}`);
      await settled([id]);
      usualMs.set(kind, performance.now() - startedMs);
    };
    await Promise.all([...ids].map(([kind, id]) => measure(kind, id)));

    for (let round = 0; round < 2 * rounds; round++) {
      progress = `round ${round}`;
      const hits: Hit[] = [];
      for (const [index, [kind, id]] of [...ids].entries()) {
        const isRestore = (round + index) % 2 === 0;
        const good = (await show(id)).backups.find(({ status }) => status === "finished");
        if (good === undefined)
          throw new Error(`${progress}: there is no good backup of ${kind} any more.`);
        if (isRestore) await targetOf(kind).write(`v${round + 1}`);
        const before = await targetOf(kind).read();
        const { take, restore } = draw(kind, { configuration: id, good });
        // A restore makes a safety backup, and verifies what it restores.
        const afterMs = random() * (usualMs.get(kind) ?? 0) * (isRestore ? 3 : 1.1);
        hits.push({
          kind,
          isRestore,
          good: good.id,
          before,
          afterMs,
          ask: isRestore ? restore : take,
        });
      }
      // One kill hits all tasks, each at another phase.
      const killMs = Math.max(...hits.map(({ afterMs }) => afterMs));
      await Promise.all(
        hits.map(async ({ kind, afterMs, ask }) => {
          await wait(killMs - afterMs);
          const asked = await ask();
          expect(asked.status, `${progress}, ${kind}: ${await asked.text()}`).toBe(202);
          await wait(afterMs);
        }),
      );
      await service.end("SIGKILL");
      await start();
      await expectHonestStorage(await settled(await listConfigurations()));
      for (const { kind, isRestore, good, before } of hits) {
        const now = await targetOf(kind).read();
        if (isRestore) {
          const { restore_status } = await get<Backup>(`/api/backup/${good}`);
          // The backup may have an earlier version than the newest, but a complete one.
          expect(now, `${progress}, ${kind}: old or new`).toMatch(
            new RegExp(`^v\\d+ ${targetOf(kind).whole}$`),
          );
          if (restore_status === "finished") expect(now, progress).not.toBe(before);
        } else expect(now, `${progress}, ${kind}: nothing is changed`).toBe(before);
      }
    }
    progress = "the last backups";
    // The next run on a remote server cleans up after an earlier one.
    const last = [...ids].filter(([kind]) => isLongForm || kind.endsWith("remote server"));
    await Promise.all(last.map(([kind, id]) => measure(kind, id)));
    expect((await readdir(folder)).filter((name) => name.includes("quarterdeck-"))).toEqual([]);
    expect(await readdir(join(folder, "scratch"))).toEqual([]);
    expect(await sources.databases()).not.toContain("quarterdeck");
  },
);
