// Finds PostgreSQL's own programs, and chooses among several versions.
import { endInWords, isKilled } from "../../../hosts/end-in-words.ts";
import type { CommandEnd, Host } from "../../../hosts/host.ts";
import { isPipelineEnd } from "../../../hosts/shell-pipeline.ts";
import { lookForZstd } from "../compress-there.ts";
import { SourceError } from "../source.ts";

/** One installation. All programs are taken from the same one, because their versions must match. */
export type Tools = { major: number; version: string; program(name: ToolName): string };
/** `pg_dumpall` is in every package with the others, and is needed only for whole servers. */
type ToolName = "pg_dump" | "pg_restore" | "psql" | "pg_dumpall";

const toolNames: ToolName[] = ["pg_dump", "pg_restore", "psql"];
/**
 * Looks in the folders where Debian installs each major version, and in PATH, by one command because the machine may be far away.
 * On Debian, PATH has only a Perl script that starts a program of those folders and takes ten times as long, so it is skipped.
 */
const look = `${lookForZstd} && echo zstd
look() { for tool in ${toolNames.join(" ")}; do printf '\n%s:' "$1"; "$1$tool" --version; done; }
exec 2>/dev/null
for folder in /usr/lib/postgresql/*/bin/; do look "$folder"; done
case $(readlink -f -- "$(command -v ${toolNames[0]})") in
  */pg_wrapper|/usr/lib/postgresql/*/bin/*) ;;
  *) look '' ;;
esac`;

export type Installations = {
  /** All complete installations, the newest first. */
  tools: [Tools, ...Tools[]];
  hasZstd: boolean;
};

/** @throws SourceError where the machine has no complete installation */
export async function findTools(host: Host, signal: AbortSignal): Promise<Installations> {
  const { stdout } = await host.run({ argv: ["sh", "-c", look], signal });
  const versions = new Map<string, string[]>();
  for (const [, folder = "", version = ""] of stdout.matchAll(/^(.*):.* \(PostgreSQL\) (\d+\S*)/gm))
    versions.set(folder, [...(versions.get(folder) ?? []), version]);
  const [newest, ...others] = [...versions]
    .flatMap(([folder, [version = "", ...more]]): Tools[] =>
      more.length === toolNames.length - 1 && more.every((other) => other === version)
        ? [
            {
              version,
              major: Number.parseInt(version, 10),
              program: (name) => `${folder}${name}`,
            },
          ]
        : [],
    )
    .sort((one, other) => other.major - one.major);
  if (newest === undefined)
    throw new SourceError(
      `pg_dump, pg_restore and psql are not all on ${host.isRemote ? "the server" : "this machine"}. Install postgresql-client.`,
    );
  return { tools: [newest, ...others], hasZstd: stdout.startsWith("zstd\n") };
}

/**
 * Chooses the oldest installation that is not older than the server. A newer pg_dump may write what only a newer server
 * understands, and the dump has to be restored on this one.
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

/** Returns the last messages of a tool that explain why it failed, without its name in front. */
export function lastWords(end: CommandEnd): string {
  const lines = end.stderr
    .split("\n")
    .filter((line) => !isPipelineEnd(line))
    .map((line) => line.replace(/^(?:pg_\w+|psql)(?::[^:]+:\d+)?: /, ""));
  const telling = lines.filter((line) => /^(?:error|fatal|detail|hint|panic):/i.test(line));
  // Of a program that was killed, the shell says only that.
  const others = isKilled(end) ? [] : lines.filter((line) => line.trim() !== "");
  const words = (telling.length > 0 ? telling : others)
    .slice(-keptLines)
    .map((line) => line.replace(/^error: +/i, "").trim());
  return words.length > 0 ? words.join(" ") : `it ${endInWords(end)}`;
}

const keptLines = 4;
