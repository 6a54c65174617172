#!/usr/bin/env node
// A small queue worker with the options of Laravel's `queue:work`. Jobs are files in ./jobs, named
// <queue>-<number>.json; a finished one moves to ./done. Plain CommonJS, because it stands alone in a site's folder.
const fs = require("node:fs");
const path = require("node:path");

const [command, , ...flags] = process.argv.slice(2);
if (command !== "queue:work") {
  console.error("Usage: artisan queue:work {connection} --queue=default [--sleep=3] …");
  process.exit(1);
}

const options = Object.fromEntries(
  flags.map((flag) => flag.replace(/^--/, "").split("=")).map(([name, value]) => [name, value]),
);
const number = (name, otherwise) => Number(options[name] ?? otherwise);
const queues = (options.queue ?? "default").split(",");
const sleepMs = number("sleep", 3) * 1000;
const maxJobs = number("max-jobs", 0);
const maxTimeMs = number("max-time", 0) * 1000;

const jobsFolder = path.join(__dirname, "jobs");
const doneFolder = path.join(__dirname, "done");
fs.mkdirSync(jobsFolder, { recursive: true });
fs.mkdirSync(doneFolder, { recursive: true });

const log = (text) => console.log(`${new Date().toISOString()} ${text}`);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT", "SIGQUIT"])
  process.on(signal, () => {
    stop.abort();
  });

/** Takes the next job by renaming it, so that two workers never take the same. */
function take() {
  const names = fs
    .readdirSync(jobsFolder)
    .filter((name) => name.endsWith(".json"))
    .sort();
  for (const queue of queues)
    for (const name of names.filter((candidate) => candidate.startsWith(`${queue}-`))) {
      const taken = path.join(jobsFolder, `${name}.${process.pid}`);
      try {
        fs.renameSync(path.join(jobsFolder, name), taken);
        return { name, taken };
      } catch {
        // Another worker was faster.
      }
    }
  return null;
}

async function main() {
  const startedMs = Date.now();
  let jobs = 0;
  log(`Working on ${queues.join(", ")}, pid ${process.pid}`);
  while (!stop.signal.aborted) {
    const job = take();
    if (job === null) {
      for (let waited = 0; waited < sleepMs && !stop.signal.aborted; waited += 100) await wait(100);
      if (sleepMs === 0) await wait(50);
    } else {
      const { name, milliseconds = 100 } = JSON.parse(fs.readFileSync(job.taken, "utf8"));
      log(`${job.name} ${name} RUNNING`);
      await wait(milliseconds);
      fs.renameSync(job.taken, path.join(doneFolder, job.name));
      log(`${job.name} ${name} DONE`);
      jobs += 1;
    }
    if (maxJobs > 0 && jobs >= maxJobs) break;
    if (maxTimeMs > 0 && Date.now() - startedMs >= maxTimeMs) break;
  }
  log("Ended");
}

void main();
