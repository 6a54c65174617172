// A process with only a supervisor, which `crash.test.ts` kills at random moments.
import { systemClock } from "../../clock.ts";
import type { Program } from "../processes/process-manager.ts";
import { createSupervisor } from "./supervisor.ts";

const [folder = "", instance = "", programs = "[]"] = process.argv.slice(2);
const all: Program[] = JSON.parse(programs);

const say = (word: string) => process.stdout.write(`${word}\n`);
const report = (fields: object, message: string) =>
  process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);

const supervisor = createSupervisor({
  folder,
  instance,
  clock: systemClock,
  environment: { PATH: process.env["PATH"] ?? "" },
  onChange() {},
  onKill() {},
  onRestart() {},
  log: { info: () => {}, warn: report, error: report },
});

async function removeAll() {
  await Promise.all(all.map(({ id }) => supervisor.remove(id)));
  say("removed");
  process.exit(0);
}

process.stdin.once("data", () => void removeAll());

say("begins");
await supervisor.resume(all.map((program) => ({ program, up: true })));
say("resumed");
