// Scans a server for what could be added to the inventory, with programs that every server has. It lists folders and reads
// supervisord's configuration, and opens no file of a site.
import { posix } from "node:path";
import type { Discovery } from "../../contract/discovery.ts";
import type { Host } from "../hosts/host.ts";
import { toShownText } from "../ssh/server-away.ts";
import { findQueueWorkers, type FoundProgram } from "./find-programs.ts";
import { databaseName, siteName, siteRoot } from "./names.ts";

/** Folders that usually contain sites. */
export const usualRoots = ["/var/www", "/srv", "/home", "/opt", "/usr/share/nginx"];
/** Deep enough for `/home/forge/shop.example.com/releases/20260101/database/database.sqlite`. */
const maxDepth = 6;
const maxFound = 500;
/** Limit of each of the two searches, so that a large disk is not searched completely. */
const searchSeconds = 6;
const scanMs = 15_000;
const timedOut = 124;

/** Searches the script's arguments for files of one kind. */
const search = (kind: string) =>
  `timeout ${searchSeconds} find -H "$@" -xdev -maxdepth ${maxDepth} \\
    \\( -name node_modules -o -name vendor -o -name .git \\) -prune -o -type f ${kind} 2>/dev/null`;

/**
 * Records end with a zero byte and their fields with a tab, which no path can contain before the last field. The SQLite search
 * comes last, because any account can make it exceed the output that is kept; sites come before it, because a file is listed only
 * if its site was found.
 */
const script = `
config=$1
shift
f() { printf '%s\\t%s\\t%s\\0' "$@"; }
for s in /run/postgresql/.s.PGSQL.*; do [ -S "$s" ] && f socket postgres "$s"; done
for s in /run/mysqld/mysqld.sock /var/lib/mysql/mysql.sock; do [ -S "$s" ] && f socket mysql "$s"; done
for t in /proc/net/tcp /proc/net/tcp6; do
  while read -r _ l _ s _; do [ "$s" = 0A ] && f port "\${l%:*}" "\${l##*:}"; done 2>/dev/null <"$t"
done
programs() {
  [ -r "$1" ] || { f note unreadable "$1"; return; }
  while IFS= read -r l || [ -n "$l" ]; do case $l in
    "["*) l=\${l#?}; f section "\${l%%]*}" "$1" ;;
    [[:space:]]*[![:space:]]*|[A-Za-z]*[=:]*) f line - "$l" ;;
  esac; done <"$1"
}
for m in "$config" /etc/supervisor/supervisord.conf /etc/supervisord.conf; do
  [ -f "$m" ] || continue
  f main - "$m"
  programs "$m"
  d=\${m%/*}
  [ -r "$m" ] && sed -n '/^\\[include\\]/,/^\\[/{/^\\[/d;s/[[:space:]][;#].*//;/^[;#]/d;s/^[Ff]iles *[=:]//;p;}' "$m" | while IFS= read -r files; do
    cd "$d" && for c in $(printf %s "$files" | sed "s|%(here)s|$d|g"); do
      case $c in /*) ;; *) c=$d/$c ;; esac
      [ -f "$c" ] && programs "$c"
    done
  done
  break
done
for r; do shift; [ -d "$r" ] && set -- "$@" "$r"; done
code=0
if [ $# != 0 ] && ! find / -maxdepth 0 -printf '' 2>/dev/null; then f note find ''
elif [ $# != 0 ]; then
  ${search("-name artisan -printf 'artisan\\t%u\\t%p\\0'")}
  code=$?
  if [ $code != ${timedOut} ]; then
    ${search("\\( -name '*.sqlite' -o -name '*.sqlite3' -o -name '*.db' \\) -size +0 -printf 'sqlite\\t%u\\t%p\\0'")}
    code=$?
  fi
fi
[ $code = ${timedOut} ] && printf '\\0stopped\\0'
printf 'end\\0'`;

type Record = { kind: string; first: string; last: string };

function readRecords(text: string): Record[] {
  return text.split("\0").flatMap((record) => {
    const [kind = "", first = "", ...rest] = record.split("\t");
    // A path may contain tabs.
    return kind === "" ? [] : [{ kind, first, last: rest.join("\t") }];
  });
}

/**
 * Parses the script's output, without a record that is incomplete.
 * @returns also whether a search ran into its time limit, and whether the end of the output is missing
 */
function readOutput(text: string): { records: Record[]; isStopped: boolean; isCut: boolean } {
  const stop = text.lastIndexOf("\0stopped\0end\0");
  const isStopped = stop !== -1 && text.endsWith("\0stopped\0end\0");
  const isCut = !text.endsWith("\0end\0") && text !== "end\0";
  // The last record may be cut off within a path.
  const whole = isStopped ? text.slice(0, stop) : text;
  const last = isStopped || isCut ? whole.lastIndexOf("\0") + 1 : whole.length;
  return { records: readRecords(whole.slice(0, last)), isStopped, isCut };
}

const databasePorts = { postgres: [5432, 5433, 5434], mysql: [3306, 3307] } as const;

/** Returns the ports at which a program listens on 127.0.0.1, on ::1 or on all addresses. */
function listeningPorts(records: readonly Record[]): Set<number> {
  const reached = new Set([
    "0100007F",
    "00000000",
    "0".repeat(32),
    `${"0".repeat(24)}01000000`,
    "0000000000000000FFFF00000100007F",
  ]);
  return new Set(
    records
      .filter(({ kind, first }) => kind === "port" && reached.has(first))
      .map(({ last }) => Number.parseInt(last, 16)),
  );
}

function findDatabaseServers(records: readonly Record[]): Discovery["database_servers"] {
  const listening = listeningPorts(records);
  const sockets = records.filter(({ kind }) => kind === "socket");
  const postgres = sockets
    .filter(({ first }) => first === "postgres")
    .map(({ last }) => {
      const cut = last.lastIndexOf("/.s.PGSQL.");
      return { socket: last.slice(0, cut), port: Number(last.slice(cut + "/.s.PGSQL.".length)) };
    })
    // Excludes lock files, whose names are longer. A url for a socket names no port, so a socket of another port than the default is
    // listed only where it can be reached by TCP.
    .filter(({ port }) => port === databasePorts.postgres[0] || listening.has(port));
  const mysql = sockets.filter(({ first }) => first === "mysql").map(({ last }) => last);
  const ports = (engine: keyof typeof databasePorts) =>
    databasePorts[engine].filter((port) => listening.has(port));
  const mysqlPorts = ports("mysql");
  return [
    ...postgres.map(({ socket, port }) => ({
      engine: "postgres" as const,
      socket,
      port: listening.has(port) ? port : null,
    })),
    ...ports("postgres")
      .filter((port) => !postgres.some((one) => one.port === port))
      .map((port) => ({ engine: "postgres" as const, socket: null, port })),
    // It is unknown which socket belongs to which port, so they are paired in order; most servers have one of each.
    ...mysql.map((socket, index) => ({
      engine: "mysql" as const,
      socket,
      port: mysqlPorts[index] ?? null,
    })),
    ...mysqlPorts.slice(mysql.length).map((port) => ({
      engine: "mysql" as const,
      socket: null,
      port,
    })),
  ];
}

type Found = {
  sites: { root: string; name: string; user: string }[];
  sqlite_files: { path: string; name: string; user: string }[];
  queue_workers: FoundProgram[];
  /** supervisord's main file; null = none was found. */
  supervisordFile: string | null;
} & Omit<Discovery, "sites" | "sqlite_files" | "queue_workers">;

/**
 * @param where.roots folders to search, absolute; missing ones are skipped
 * @param where.supervisordConfig supervisord's main file; null = one of the usual ones
 * @throws what `run` throws
 */
export async function scanServer(
  host: Host,
  { roots, supervisordConfig }: { roots: readonly string[]; supervisordConfig: string | null },
  signal: AbortSignal,
): Promise<Found> {
  const { stdout } = await host.run({
    argv: ["sh", "-c", script, "sh", supervisordConfig ?? "", ...roots],
    signal: AbortSignal.any([signal, AbortSignal.timeout(scanMs)]),
  });
  const { records, isStopped, isCut } = readOutput(stdout);
  const of = (kind: string) => records.filter((record) => record.kind === kind);

  const sites = new Map<string, { root: string; name: string; user: string }>();
  for (const { first: user, last: path } of of("artisan")) {
    const root = siteRoot(path);
    sites.set(root, { root, name: siteName(root), user });
  }
  /** Returns the folder of the innermost site that contains the path; null = none. */
  const siteOf = (path: string): string | null => {
    const folder = posix.dirname(path);
    if (folder === path) return null;
    return sites.has(folder) ? folder : siteOf(folder);
  };
  const sqlite = of("sqlite").flatMap(({ first: user, last: path }) => {
    const root = siteOf(path);
    return root === null ? [] : [{ path, name: databaseName(path, root), user }];
  });
  // Sorted for people, because `find` lists files in the order of the file system.
  const byName = [...sites.values()].sort(
    (a, b) => a.name.localeCompare(b.name) || a.root.localeCompare(b.root),
  );
  return {
    sites: byName.slice(0, maxFound),
    sqlite_files: sqlite.sort((a, b) => a.path.localeCompare(b.path)).slice(0, maxFound),
    database_servers: findDatabaseServers(records),
    queue_workers: findQueueWorkers(records),
    supervisordFile: of("main")[0]?.last ?? null,
    notes: [
      ...(isStopped
        ? [
            `The search of ${roots.join(", ")} was stopped after ${searchSeconds} seconds, so more may be there.`,
          ]
        : []),
      ...(isCut || sites.size > maxFound || sqlite.length > maxFound
        ? [`The search of ${roots.join(", ")} found too much to list, so more may be there.`]
        : []),
      ...of("note").map(({ first, last }) =>
        first === "find"
          ? `${roots.join(", ")} ${roots.length === 1 ? "was" : "were"} not searched for sites, which needs GNU find. Install it (package findutils).`
          : `${toShownText(last)} can't be read as ${host.account.name ?? "this account"}, so its programs are not listed.`,
      ),
    ],
  };
}
