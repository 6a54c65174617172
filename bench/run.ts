// `npm run bench`: everything that is measured, or the one that is named: `npm run bench -- workers`.
// Each figure is a ratio against something measured in the same run, or an absolute one with its aim.
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
  // Another page than ours, for the dashboard's figures: `npm run bench -- dashboard --url https://…`.
  options: {
    url: { type: "string" },
    // Of the bench `ssh`: how many servers and workers in all.
    servers: { type: "string", default: "20" },
    workers: { type: "string", default: "200" },
    // Of `backups`, `ssh` and `peers`: how much is backed up in MB; 0 = nothing.
    size: { type: "string" },
    // Of the bench `scale`: how much of all that is stored, e.g. 0.1 for trying.
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
