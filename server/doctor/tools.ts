// Checks the programs that the inventory's entries need, on their machines.
import type { Diagnosis } from "../../contract/doctor.ts";
import { findTools } from "../backups/sources/postgres/tools.ts";
import { CommandMissing, type Host } from "../hosts/host.ts";
import { processManagerOf, type Inventory } from "../inventory/schema.ts";
import type { Servers } from "../ssh/servers.ts";
import { toError } from "../to-error.ts";
import { failed, ok, warning } from "./finding.ts";

type Server = Inventory["servers"][number];

type Tool = {
  /** The first one that is installed is used. */
  programs: readonly [string, ...string[]];
  /** Pattern of its output; default: a version. */
  pattern?: RegExp;
  package: string;
  purpose: string;
  /** Whether everything works without it. */
  isOptional?: boolean;
};

const versionPattern = /(\d+(?:\.\d+)+)/;

/** Version of the distribution; the tool's own version, with two numbers, is of no use. */
const mysqlPattern = /(?:Distrib|from|Ver) (\d+\.\d+\.\d+)/;

const mysqlTools: Tool[] = [
  {
    programs: ["mariadb-dump", "mysqldump"],
    pattern: mysqlPattern,
    package: "mariadb-client",
    purpose: "to back up MySQL and MariaDB databases",
  },
  {
    programs: ["mariadb", "mysql"],
    pattern: mysqlPattern,
    package: "mariadb-client",
    purpose: "to restore MySQL and MariaDB databases",
  },
];
const tar: Tool = {
  programs: ["tar"],
  pattern: /^tar \(GNU tar\) (\S+)/,
  package: "tar",
  purpose: "to back up sites; it must be GNU tar",
};
const sqlite: Tool = {
  programs: ["sqlite3"],
  package: "sqlite3",
  purpose: "to back up SQLite databases",
};
const supervisord: Tool = {
  programs: ["supervisord"],
  package: "supervisor",
  purpose: "to keep workers up",
};
const zstd: Tool = {
  programs: ["zstd"],
  package: "zstd",
  purpose: "to compress backups before they are sent",
  isOptional: true,
};
const rclone: Tool = {
  programs: ["rclone"],
  package: "rclone",
  purpose: "to reach storages of type rclone",
};
const ssh: Tool = {
  programs: ["ssh"],
  package: "openssh-client",
  purpose: "to reach servers and storages over SSH",
};

/** Returns the tools that a server's entries need there; on this machine SQLite and zstd are part of Node. */
function toolsOf({ sites, databases }: Inventory, server: Server): Tool[] {
  const isRemote = server.connection !== "local";
  const has = (engine: string) =>
    databases.some((entry) => entry.server === server.id && entry.engine === engine);
  const hasSites = sites.some((entry) => entry.server === server.id);
  return [
    ...(has("mysql") ? mysqlTools : []),
    ...(hasSites ? [tar] : []),
    ...(isRemote && has("sqlite") ? [sqlite] : []),
    ...(isRemote && (hasSites || databases.some((entry) => entry.server === server.id))
      ? [zstd]
      : []),
    ...(processManagerOf(server) === "supervisord" && hasSites ? [supervisord] : []),
  ];
}

/** Checks the tools of this machine that no server needs. */
export async function checkOwnTools(
  inventory: Inventory,
  local: Host,
  signal: AbortSignal,
): Promise<Diagnosis[]> {
  const hasRemote =
    inventory.servers.some(({ connection }) => connection !== "local") ||
    inventory.storage_providers.some(({ type }) => type === "sftp");
  const hasRclone = inventory.storage_providers.some(({ type }) => type === "rclone");
  const own = [...(hasRemote ? [ssh] : []), ...(hasRclone ? [rclone] : [])];
  return summed(
    "Tools",
    own.map((tool) => checkOne("Tools", local, tool, signal)),
  );
}

/** Checks the tools that a server needs. */
export async function checkServerTools(
  inventory: Inventory,
  server: Server,
  servers: Pick<Servers, "open">,
  signal: AbortSignal,
): Promise<Diagnosis[]> {
  const name = `Tools on ${server.name}`;
  try {
    const host = await servers.open(server.id, { signal });
    const hasPostgres = inventory.databases.some(
      (entry) => entry.server === server.id && entry.engine === "postgres",
    );
    return await summed(name, [
      ...(hasPostgres ? [checkPostgres(name, host, signal)] : []),
      ...toolsOf(inventory, server).map((tool) => checkOne(name, host, tool, signal)),
    ]);
  } catch (error) {
    signal.throwIfAborted();
    return [failed(`Server ${server.name}`, toError(error).message, null)];
  }
}

/** Summarizes installed tools in one result, and returns one for each missing tool. */
async function summed(name: string, checks: Promise<Diagnosis>[]): Promise<Diagnosis[]> {
  const results = await Promise.all(checks);
  const there = results.filter(({ state }) => state === "ok").map(({ message }) => message);
  return [
    ...(there.length > 0 ? [ok(name, `${there.join(", ")}.`)] : []),
    ...results.filter(({ state }) => state !== "ok"),
  ];
}

async function checkPostgres(name: string, host: Host, signal: AbortSignal): Promise<Diagnosis> {
  try {
    const { tools } = await findTools(host, signal);
    const versions = new Set(tools.map(({ version }) => version));
    return ok(name, `pg_dump ${[...versions].join(" and ")}`);
  } catch (error) {
    signal.throwIfAborted();
    return failed(name, toError(error).message, "As root: apt-get install postgresql-client");
  }
}

async function checkOne(
  name: string,
  host: Host,
  tool: Tool,
  signal: AbortSignal,
): Promise<Diagnosis> {
  const { programs, pattern = versionPattern, purpose, isOptional = false } = tool;
  for (const program of programs) {
    try {
      // `ssh` only knows -V, and writes the version to its error stream.
      const argv: [string, string] = [program, program === "ssh" ? "-V" : "--version"];
      const { stdout, stderr } = await host.run({ argv, signal });
      const version = pattern.exec(`${stdout}${stderr}`)?.[1];
      if (version !== undefined) return ok(name, `${program} ${version}`);
    } catch (error) {
      if (!(error instanceof CommandMissing)) throw error;
    }
  }
  return (isOptional ? warning : failed)(
    name,
    `${programs.join(" or ")} is missing, ${isOptional ? "which would help" : "and is needed"} ${purpose}.`,
    `As root: apt-get install ${tool.package}`,
  );
}
