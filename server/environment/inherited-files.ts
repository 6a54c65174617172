// Files that whoever started the service had open, and left open for it: its children would inherit them as well, and
// with them what a site's account may not open itself.
import { closeSync, readdirSync, readFileSync } from "node:fs";

/** O_CLOEXEC, see open(2) and "/proc/PID/fdinfo" in proc(5). Node opens all of its own with it. */
const closedOnExec = 0o2000000;
const standardFiles = 3;

/** Closes all but the standard ones. Where there is no /proc, nothing is known of them. */
export function closeInheritedFiles(): void {
  for (const name of listOpen()) {
    const file = Number(name);
    try {
      const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, "utf8"))?.[1];
      // One that nothing is known of may be Node's own.
      if (file < standardFiles || flags === undefined) continue;
      if ((Number.parseInt(flags, 8) & closedOnExec) === 0) closeSync(file);
    } catch {
      // The one that listed the others is closed by now.
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
