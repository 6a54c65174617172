// Reads what a machine has: tools and their versions, memory, disk, load. Uses only a POSIX shell.
import type { ServerStatus } from "../../contract/servers.ts";
import { toTimestamp } from "../../contract/values.ts";
import type { Host } from "../hosts/host.ts";
import { toShownText } from "./server-away.ts";

export type Facts = NonNullable<ServerStatus["facts"]>;

/** Tools that backups and workers use, and the Debian packages that contain them. */
const packages = {
  pg_dump: "postgresql-client",
  "mariadb-dump": "mariadb-client",
  tar: "tar",
  zstd: "zstd",
  sqlite3: "sqlite3",
  supervisord: "supervisor",
  php: "php-cli",
} as const;

const askMs = 20_000;
const shownVersion = 120;

const script = [
  "n='",
  "'",
  'for t in "$@"; do',
  '  command -v "$t" >/dev/null || continue',
  // Would read the account's own .sqliterc, even for --version.
  '  case $t in sqlite3) o="-init /dev/null" ;; *) o= ;; esac',
  '  v=$("$t" $o --version 2>&1 </dev/null)',
  '  echo "tool $t ${v%%"$n"*}"',
  "done",
  'echo "system $(. /etc/os-release 2>/dev/null; echo "${PRETTY_NAME:-$(uname -sr)}")"',
  'while read -r k v _; do case $k in MemTotal:|MemAvailable:) echo "$k $v" ;; esac; done </proc/meminfo',
  'df -Pk / | while read -r _ all _ free _; do echo "disk $all $free"; done',
  'read -r l _ </proc/loadavg && echo "load $l"',
  'echo "processors $(getconf _NPROCESSORS_ONLN)"',
].join("\n");

/** @throws what `run` throws */
export async function readFacts(host: Host, nowMs: number): Promise<Facts> {
  const names = Object.keys(packages);
  const { stdout } = await host.run({
    argv: ["sh", "-c", script, "sh", ...names],
    signal: AbortSignal.timeout(askMs),
  });
  const lines = stdout.split("\n").map((line) => toShownText(line));
  const after = (word: string) =>
    lines.findLast((line) => line.startsWith(`${word} `))?.slice(word.length + 1) ?? null;
  const number = (text: string | null | undefined) =>
    text != null && /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : null;
  const mb = (kb: string | null | undefined) => {
    const value = number(kb);
    return value === null ? null : Math.floor(value / 1024);
  };
  const [disk, free] = after("disk")?.split(" ") ?? [];
  return {
    at: toTimestamp(new Date(nowMs)),
    system: after("system"),
    processors: number(after("processors")),
    load: number(after("load")),
    memory: mb(after("MemTotal:")),
    memory_available: mb(after("MemAvailable:")),
    disk: mb(disk),
    disk_available: mb(free),
    tools: Object.entries(packages).map(([name, debian]) => ({
      name,
      version: after(`tool ${name}`)?.slice(0, shownVersion) ?? null,
      package: debian,
    })),
  };
}
