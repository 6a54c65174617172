// `npm run bench`: everything that is measured, or the one that is named: `npm run bench -- workers`.
// Each figure is a ratio against something measured in the same run, or an absolute one with its aim.
import { run as backups } from "./backups.ts";
import { run as webhooks } from "./webhooks.ts";
import { run as workers } from "./workers.ts";

const benches = { workers, backups, webhooks };

const asked = process.argv.slice(2);
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
