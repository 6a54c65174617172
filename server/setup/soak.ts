// `npm run soak`: runs tests for minutes that `npm test` runs for seconds. `npm run soak -- fuzz` runs one of the programs.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { buildDashboard } from "./build.ts";

type Program = {
  name: string;
  /** One line that describes it. */
  about: string;
  /** The tests that it runs, with Vitest or in the browser. */
  files: readonly string[];
  /** Variables that make the tests run longer. The command's own environment takes precedence. */
  environment: Record<string, string>;
};

const browserTests = "e2e/";

const programs: readonly Program[] = [
  {
    name: "fuzz",
    about:
      "20,000 requests made from the interface description, and each way to write a wrong id or query",
    files: [
      "server/http/fuzz.test.ts",
      "server/http/order-of-checks.test.ts",
      "server/http/storable.test.ts",
    ],
    environment: { FUZZ_REQUESTS: "20000", LONG_FORM: "true" },
  },
  {
    name: "sources",
    about: "all kinds of sources, and of servers that are away, where npm test takes a few of them",
    files: [
      "server/backups/backups.test.ts",
      "server/backups/cancel.test.ts",
      "server/backups/copies/copies.test.ts",
      "server/backups/counts.test.ts",
      "server/backups/restore/damaged-restore.test.ts",
      "server/backups/resolve-drill.test.ts",
      "server/backups/run/hooks.test.ts",
      "server/backups/recovery/recovery.test.ts",
      "server/backups/storage-faults.test.ts",
      "server/backups/storage-over-ssh.test.ts",
      "server/backups/foreign-data.test.ts",
      "server/backups/incremental/incremental-sources.test.ts",
      "server/backups/restore/restore-elsewhere.test.ts",
      "server/backups/sources/folder/account.test.ts",
      "server/backups/sources/folder/databases.test.ts",
      "server/backups/sources/folder/excludes.test.ts",
      "server/backups/sources/mysql-server/source.test.ts",
      "server/backups/sources/mysql/floats.test.ts",
      "server/backups/sources/mysql/objects.test.ts",
      "server/backups/sources/mysql/odd-data.test.ts",
      "server/backups/sources/mysql/privileges.test.ts",
      "server/backups/whole-server.test.ts",
      "server/backups/foreign/import.test.ts",
      "server/backups/sources/postgres/faults.test.ts",
      "server/backups/sources/postgres/login.test.ts",
      "server/backups/sources/postgres/own-settings.test.ts",
      "server/backups/sources/postgres/partitions.test.ts",
      "server/backups/sources/postgres/restorable.test.ts",
      "server/backups/sources/postgres/restore-tables.test.ts",
      "server/backups/sources/postgres/source.test.ts",
      "server/backups/sources/postgres-server/source.test.ts",
      "server/environment/handover.test.ts",
    ],
    environment: { LONG_FORM: "true" },
  },
  {
    name: "chains",
    about:
      "1,000 retentions over chains of incremental backups, after each of which all that is listed restores",
    files: ["server/backups/incremental/chains.test.ts"],
    environment: { CHAIN_RETENTIONS: "1000" },
  },
  {
    name: "machines",
    about:
      "over SSH all that is tried on this machine, where npm test takes what goes another way there",
    files: [
      "server/backups/awful-output.test.ts",
      "server/backups/each-machine.test.ts",
      "server/backups/encrypted.test.ts",
      "server/backups/remote-sudo.test.ts",
      "server/backups/restore/restore-file.test.ts",
      "server/backups/restore/restore-tables.test.ts",
      "server/backups/sources/folder/late-end.test.ts",
      "server/backups/sources/folder/source.test.ts",
      "server/backups/sources/folder/state.test.ts",
      "server/backups/sources/folder/remote/sudo.test.ts",
      "server/backups/sources/sqlite/remote/sudo.test.ts",
      "server/backups/sources/sqlite/restore-tables.test.ts",
      "server/backups/sources/sqlite/source.test.ts",
      "server/discovery/take-over.test.ts",
      "server/ssh/run-remotely.test.ts",
      "server/workers/change/change.test.ts",
      "server/workers/crash-loop/coming-and-going.test.ts",
      "server/workers/deployment/deployment.test.ts",
      "server/workers/laravel-states.test.ts",
      "server/workers/laravel.test.ts",
      "server/workers/signals.test.ts",
      "server/workers/orders/stops.test.ts",
      "server/workers/supervisor/comparison.test.ts",
      "server/workers/workers.test.ts",
    ],
    environment: { LONG_FORM: "true" },
  },
  {
    name: "storages",
    about:
      "each kind of storage, and of what is wrong with one, where npm test leaves out some that rclone reaches or that are alike",
    files: [
      "server/backups/adoption/adopt-each-storage.test.ts",
      "server/backups/adoption/adopt-storage.test.ts",
      "server/backups/storage-by-rclone.test.ts",
      "server/self-backup/nightly.test.ts",
      "server/self-backup/storages.test.ts",
      "server/storage/local.test.ts",
      "server/storage/every-storage.test.ts",
      "server/storage/rclone.test.ts",
    ],
    environment: { LONG_FORM: "true" },
  },
  {
    name: "browser",
    about: "all browser tests, of which npm test leaves out those whose promise another one keeps",
    files: [browserTests],
    environment: { LONG_FORM: "true" },
  },
  {
    name: "package",
    about: "all that is tried of the packed tarball, by root and by an account of its own; as root",
    files: ["server/setup/pack.test.ts"],
    environment: { LONG_FORM: "true" },
  },
  {
    name: "cuts",
    about:
      "20 cut SSH connections each in runs and in restores of each kind of source, and with a storage on a server",
    files: [
      "server/backups/sources/cut-connections.test.ts",
      "server/backups/sources/cut-connections-sudo.test.ts",
      "server/backups/storage-cuts.test.ts",
    ],
    environment: { CUT_ROUNDS: "20", LONG_FORM: "true" },
  },
  {
    name: "locks",
    about:
      "backups in buckets with object lock; needs the gateway of Ceph: apt-get install --no-install-recommends ceph-mon ceph-osd radosgw",
    files: ["server/backups/storage-locked.test.ts"],
    environment: { LONG_FORM: "true" },
  },
  {
    name: "away",
    about:
      "ten minutes without the sshd of a server, beside its workers; servers that are shown as unreachable within 30 s",
    files: [
      "server/ssh/reachability.test.ts",
      "server/ssh/told-once.test.ts",
      "server/workers/remote.test.ts",
    ],
    environment: { AWAY_SECONDS: "600", LONG_FORM: "true" },
  },
  {
    name: "draws",
    about:
      "many times as many cases drawn by chance: of ends of a backup that fail, of forecasts, of a shared directory, of changed inventories, of texts that come through supervisord",
    files: [
      "server/backups/retention/forecast.test.ts",
      "server/backups/pipeline/pacer.test.ts",
      "server/backups/pipeline/settling.test.ts",
      "server/backups/shared-directory.test.ts",
      "server/inventory/edit-text.test.ts",
      "server/workers/supervisord/command-text.test.ts",
    ],
    environment: { LONG_FORM: "true" },
  },
  {
    name: "orders",
    about:
      "orders that wait behind others, or of workers that restart by themselves, while supervisord does not answer",
    files: [
      "server/workers/supervisord/broken-config.test.ts",
      "server/workers/supervisord/unreachable.test.ts",
      "server/workers/supervisord/waiting.test.ts",
    ],
    environment: { LONG_FORM: "true" },
  },
  {
    name: "crowds",
    about: "200 requests at once of each operation that writes, and a deadline among 1,000 workers",
    files: ["server/http/many-at-once.test.ts", "server/workers/deadlines/deadlines.test.ts"],
    environment: { LONG_FORM: "true" },
  },
  {
    name: "instances",
    about:
      "100 faults of three instances and of their PostgreSQL: kills, stops, restarts, connections that end or fall silent; what is asked between two instances, and an upgrade with its way back",
    files: [
      "server/instances/faults.test.ts",
      "server/instances/several.test.ts",
      "server/instances/rolling-upgrade.test.ts",
      "server/store/pgbouncer.test.ts",
    ],
    environment: { INSTANCE_FAULTS: "100", LONG_FORM: "true" },
  },
  {
    name: "races",
    about: "10,000 tries each to swap a path while root works on it; as root, on Linux",
    files: ["server/hosts/races.test.ts"],
    environment: { RACE_TRIES: "10000" },
  },
  {
    name: "restarts",
    about:
      "25 kills of the service in the moment after it answered a restart, and a stop amid a connection test",
    files: ["server/stop.test.ts", "server/workers/signals.test.ts"],
    environment: { RESTART_ROUNDS: "25", LONG_FORM: "true" },
  },
  {
    name: "kills",
    about:
      "kills of the service: 30 in runs or imports and 30 in restores of each kind of source, whole and in parts, incremental, encrypted and copied, 20 in restores of MySQL and 20 in those of its single tables, 30 cancellations of incremental backups and of their restores, 30 beside workers, 40 of a supervisor, 25 after deployments, 10 in changes, 10 in webhooks; 40 of a move of the database",
    files: [
      "server/commands/self-backup.test.ts",
      "server/backups/crash.test.ts",
      "server/backups/incremental/incremental.test.ts",
      "server/backups/sources/folder/carry.test.ts",
      "server/backups/sources/folder/swap.test.ts",
      "server/backups/sources/sqlite/restore.test.ts",
      "server/backups/sources/mysql/source.test.ts",
      "server/backups/sources/mysql/restore-tables.test.ts",
      "server/workers/crash.test.ts",
      "server/workers/supervisor/crash.test.ts",
      "server/workers/change/kill.test.ts",
      "server/workers/deployment/kill.test.ts",
      "server/store/embedded/password.test.ts",
      "server/store/embedded/take-over.test.ts",
      "server/webhooks/crash.test.ts",
      "server/commands/move-database.test.ts",
    ],
    environment: {
      CRASH_ROUNDS: "30",
      PATCH_ROUNDS: "30",
      RESTORE_KILLS: "20",
      LONG_FORM: "true",
      WORKER_KILLS: "30",
      SUPERVISOR_KILLS: "40",
      CHANGE_KILLS: "10",
      DEPLOYMENT_KILLS: "25",
      WEBHOOK_KILLS: "10",
      MOVE_KILLS: "40",
      MOVE_ROWS: "20000",
    },
  },
];

/** @returns whether all tests passed */
function run({ name, about, files, environment }: Program): boolean {
  console.log(`\n— ${name}: ${about}`);
  const root = fileURLToPath(new URL("../..", import.meta.url));
  // Reports each test when it ends, because a file may take half an hour.
  const [bin, ...args] = files.includes(browserTests)
    ? ["playwright", "test", "--config=e2e/playwright.config.ts", "--reporter=list"]
    : ["vitest", "run", "--reporter=verbose"];
  const { status } = spawnSync(`${root}/node_modules/.bin/${bin}`, [...args, ...files], {
    cwd: root,
    stdio: "inherit",
    env: { SEEDS: "random", ...environment, ...process.env },
  });
  return status === 0;
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !programs.some((program) => program.name === name));
if (unknown.length > 0) {
  console.log(`There is no program ${unknown.join(", ")}. There are:`);
  for (const { name, about } of programs) console.log(`  ${name}: ${about}`);
  process.exit(1);
}
const chosen = programs.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
await buildDashboard();
// Runs all of them, even after a failure.
const results = chosen.map(run);
process.exit(results.every(Boolean) ? 0 : 1);
