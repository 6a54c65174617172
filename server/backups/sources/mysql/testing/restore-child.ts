// Restores in a process that kills itself before its n-th command or while that runs; for `../source.test.ts` and
// `../restore-tables.test.ts`.
import { createReadStream } from "node:fs";
import { attemptOf, countingHost, sourceOf } from "./fixtures.ts";

const [url = "", scratchFolder = "", file = "", killAt = "", delayMs = "", ...tables] =
  process.argv.slice(2);
const host = countingHost((number) => {
  if (number !== Number(killAt)) return;
  const kill = () => process.kill(process.pid, "SIGKILL");
  if (delayMs === "0") kill();
  setTimeout(kill, Number(delayMs));
});
await sourceOf(url, scratchFolder, host, tables.length === 0 ? null : tables).restore(
  createReadStream(file),
  attemptOf(6),
);
