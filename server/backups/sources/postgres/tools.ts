// PostgreSQL's own programs: where they are, and which of several versions is the right one.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { CommandMissing, type CommandEnd, type Host } from "../../../hosts/host.ts";
import { SourceError } from "../source.ts";

/** One installation; programs are taken from the same one, because they must understand each other. */
export type Tools = { major: number; version: string; program(name: ToolName): string };
type ToolName = "pg_dump" | "pg_restore" | "psql";

const toolNames: ToolName[] = ["pg_dump", "pg_restore", "psql"];
/** Where Debian keeps each major version in a folder of its own. */
const versionsFolder = "/usr/lib/postgresql";

/** All complete installations, the newest first. @throws SourceError when there is none */
export async function findTools(host: Host, signal: AbortSignal): Promise<[Tools, ...Tools[]]> {
  const majors = await readdir(versionsFolder).catch(() => []);
  const folders = [...majors.map((major) => join(versionsFolder, major, "bin")), ""];
  const found = await Promise.all(folders.map((folder) => look(host, folder, signal)));
  const [newest, ...others] = found
    .filter((tools) => tools !== null)
    .sort((one, other) => other.major - one.major);
  if (newest === undefined)
    throw new SourceError(
      "pg_dump, pg_restore and psql are not all on this machine. Install postgresql-client.",
    );
  return [newest, ...others];
}

async function look(host: Host, folder: string, signal: AbortSignal): Promise<Tools | null> {
  const program = (name: ToolName) => join(folder, name);
  try {
    const versions = await Promise.all(
      toolNames.map(async (name) => {
        const { stdout } = await host.run({ argv: [program(name), "--version"], signal });
        return /\(PostgreSQL\) (\d+\S*)/.exec(stdout)?.[1];
      }),
    );
    const version = versions[0];
    if (version === undefined || versions.some((other) => other !== version)) return null;
    return { version, major: Number.parseInt(version, 10), program };
  } catch (error) {
    if (error instanceof CommandMissing) return null;
    throw error;
  }
}

/**
 * What dumps a server: the oldest installation that is not older than it. A newer pg_dump may write what only a newer
 * server understands, and the dump has to go back onto this one.
 * @throws SourceError
 */
export function toolsToDump(
  installations: [Tools, ...Tools[]],
  server: { major: number; text: string },
): Tools {
  const fitting = installations.filter(({ major }) => major >= server.major);
  const tools = fitting.at(-1);
  if (tools === undefined)
    throw new SourceError(
      `pg_dump ${installations[0].major} is older than the server (PostgreSQL ${server.text}) and refuses to dump it. Install postgresql-client-${server.major} or newer.`,
    );
  return tools;
}

/** What a tool said last that explains its end, without its own name in front. */
export function lastWords({ stderr, exitCode, signal }: CommandEnd): string {
  const lines = stderr
    .split("\n")
    .map((line) => line.replace(/^(?:pg_\w+|psql)(?::<stdin>:\d+)?: /, ""));
  const telling = lines.filter((line) => /^(?:error|fatal|detail|hint|panic):/i.test(line));
  const words = (telling.length > 0 ? telling : lines.filter((line) => line.trim() !== ""))
    .slice(-keptLines)
    .map((line) => line.replace(/^error: +/i, "").trim());
  return words.length > 0 ? words.join(" ") : `it ended with ${signal ?? `exit code ${exitCode}`}`;
}

const keptLines = 4;
