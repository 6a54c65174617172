// `npm run bench`: runs all benchmarks, or the named one: `npm run bench -- workers`. Each figure is a ratio to
// something measured in the same run, or an absolute value with its aim.
import { parseArgs } from "node:util";
import { run as backups } from "./backups.ts";
import { run as dashboard } from "./dashboard.ts";
import { run as large } from "./large.ts";
import { run as many } from "./many.ts";
import { run as peers } from "./peers.ts";
import { run as scale } from "./scale.ts";
import { run as sshBackups } from "./ssh-backups.ts";
import { run as sshWorkers } from "./ssh-workers.ts";
import { run as webhooks } from "./webhooks.ts";
import { run as workers } from "./workers.ts";

const { values: target, positionals: asked } = parseArgs({
  allowPositionals: true,
  // Another page for the dashboard's figures: `npm run bench -- dashboard --url https://…`.
  options: {
    url: { type: "string" },
    // For `ssh`: number of servers and workers in total.
    servers: { type: "string", default: "20" },
    workers: { type: "string", default: "200" },
    // For `backups`, `ssh` and `peers`: size of the source in MB; 0 = no backups.
    size: { type: "string" },
    // For `scale`: share of the full data, e.g. 0.1 for a trial.
    share: { type: "string", default: process.env["BENCH_SHARE"] ?? "1" },
    token: { type: "string", default: process.env["BENCH_TOKEN"] },
  },
});
const benches = {
  workers,
  backups: () => backups(target.size === undefined ? undefined : Number(target.size)),
  webhooks,
  dashboard: () => dashboard(target),
  large,
  many,
  // Needs Debian's restic, borg and borgmatic.
  peers: () => peers(Number(target.size ?? 770)),
  scale: () => scale(Number(target.share)),
  ssh: async () => {
    await sshWorkers({ servers: Number(target.servers), workers: Number(target.workers) });
    const size = Number(target.size ?? 2000);
    if (size > 0) await sshBackups(size);
  },
};

const unknown = asked.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(
    `There is no bench “${unknown[0]}”. There are: ${Object.keys(benches).join(", ")}.`,
  );
  process.exit(1);
}
for (const [name, run] of Object.entries(benches))
  if (asked.length === 0 || asked.includes(name)) {
    console.log(`\n# ${name}\n`);
    await run();
  }
