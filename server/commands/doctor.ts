// `doctor`: checks an installation, and says how to fix problems.
import { dirname } from "node:path";
import { diagnosisStates, type Diagnosis } from "../../contract/doctor.ts";
import { readConfig, readSecretFiles } from "../config.ts";
import { diagnose } from "../doctor/diagnose.ts";
import { createLocalHost } from "../hosts/local.ts";
import { createServers } from "../ssh/servers.ts";
import { sshEnvironment } from "../ssh/environment.ts";
import { hostEnvironment } from "./host-environment.ts";
import type { Command } from "./command.ts";
import { openCommandDatabase } from "./open-database.ts";

const margin = " ".repeat(9);

export const doctorCommand: Command = {
  name: "doctor",
  about: "Checks this installation, and says what to do about what is wrong.",
  details: `Checks Node, the data folder, the clock, the database, the inventory with its secrets, the tools that its entries need, each
storage provider (writes, reads and deletes a small file) and the mail server. It may run beside the service, and changes nothing.
Run it as the service's account and with the service's environment.`,
  failure: "a check failed, or could not be made; a warning alone is no failure",
  async run(context) {
    const { environment, isRoot, nodeVersion, say, onEnd, setExitCode } = context;
    const config = readConfig(readSecretFiles(environment), isRoot);
    const seen = hostEnvironment(context);
    const host = createLocalHost(seen);
    const servers = createServers({
      local: host,
      environment: sshEnvironment(seen, environment),
      inventoryFolder: dirname(config.inventoryFile),
    });
    onEnd(() => servers.close());
    const found = await diagnose({
      config,
      environment,
      isOfService: false,
      nodeVersion,
      host,
      servers,
      reservedAccounts: [],
      openDatabase: () => openCommandDatabase(context, config),
    });
    for (const diagnosis of found) say(linesOf(diagnosis));
    say(`\n${summaryOf(found)}`);
    if (found.some(({ state }) => state === "failed")) setExitCode(1);
  },
};

function linesOf({ name, state, message, cure }: Diagnosis): string {
  const [first = "", ...more] = [`${name}: ${message}`, ...(cure === null ? [] : [`→ ${cure}`])]
    .join("\n")
    .split("\n");
  return [`${state.padEnd(margin.length)}${first}`, ...more.map((line) => margin + line)].join(
    "\n",
  );
}

function summaryOf(found: readonly Diagnosis[]): string {
  const counts = diagnosisStates.map(
    (wanted) => `${found.filter(({ state }) => state === wanted).length} ${wanted}`,
  );
  return `${counts.join(", ")}.`;
}
