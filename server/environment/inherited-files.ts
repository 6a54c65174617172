// Closes files that the parent process left open for the service. Its children would inherit them, and a site's account could
// read what it may not open itself.
import { closeSync, readdirSync, readFileSync } from "node:fs";

/** O_CLOEXEC, see open(2) and "/proc/PID/fdinfo" in proc(5). Node opens all of its files with it. */
const closedOnExec = 0o2000000;
const standardFiles = 3;

/** Closes inherited files except for the standard ones. Does nothing where there is no /proc. */
export function closeInheritedFiles(): void {
  for (const name of listOpen()) {
    const file = Number(name);
    try {
      const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, "utf8"))?.[1];
      // A file without known flags may be Node's own.
      if (file < standardFiles || flags === undefined) continue;
      if ((Number.parseInt(flags, 8) & closedOnExec) === 0) closeSync(file);
    } catch {
      // The descriptor of the listing itself is closed by now.
    }
  }
}

function listOpen(): string[] {
  try {
    return readdirSync("/proc/self/fd");
  } catch {
    return [];
  }
}
