// Commands before and after each backup of a source, as its inventory entry names them. No request has a part in them.
import { CommandMissing, type Host } from "../../hosts/host.ts";
import { toError } from "../../to-error.ts";
import { SourceError, type Attempt, type Hooks } from "../sources/source.ts";

/** As argument lists; null = there is none. */
type HookCommands = {
  before: readonly string[] | null;
  after: readonly string[] | null;
  timeoutMs: number;
};

/** In the environment of what runs before a backup, and of all that it starts. */
const markName = "QUARTERDECK_BACKUP";

/** Ends what has `$1` in its environment, and what that starts meanwhile. */
const endMarked = `for _ in 1 2 3; do
  for at in $(grep -lzxFs -- "$1" /proc/[0-9]*/environ); do
    at=\${at#/proc/}
    kill -KILL "\${at%/environ}" && echo ended
  done
done`;

const keptCharacters = 4096;
const shownLines = 20;

/** Where they run, as the account that they run as sees it. */
type HookPlace = { host: Pick<Host, "run">; folder: string };

/** @param open throws why they cannot run there */
export function createHooks(open: () => Promise<HookPlace>, commands: HookCommands): Hooks {
  const { timeoutMs } = commands;

  /** @returns why it failed, in words; null = it ended well @throws the reason of the signal */
  async function run(
    argv: readonly string[],
    say: Attempt["say"],
    signal: AbortSignal | null,
    environment: Record<string, string> = {},
  ): Promise<string | null> {
    const [program = "", ...args] = argv;
    const timeout = AbortSignal.timeout(timeoutMs);
    let output = "";
    let lastError = "";
    const keep = (text: string) => {
      output = (output + text).slice(-keptCharacters);
    };
    try {
      const { host, folder } = await open();
      const { exitCode, signal: by } = await host.run({
        argv: [program, ...args],
        environment,
        folder,
        async take(piece) {
          keep(piece.toString());
        },
        onErrorLine(line) {
          if (line.trim() !== "") lastError = line.trim();
          keep(`${line}\n`);
        },
        signal: signal === null ? timeout : AbortSignal.any([signal, timeout]),
      });
      if (exitCode === 0) return null;
      const end = by === null ? `exit code ${exitCode}` : by;
      return `${argv.join(" ")} ended with ${end}${lastError === "" ? "." : `: ${lastError}`}`;
    } catch (error) {
      signal?.throwIfAborted();
      if (timeout.aborted)
        return `${argv.join(" ")} was stopped: it, or what it left running with its output, didn't end within ${timeoutMs / 1000} s.`;
      return error instanceof CommandMissing
        ? error.message
        : `${argv.join(" ")}: ${toError(error).message}`;
    } finally {
      const lines = output.split("\n").filter((line) => line.trim() !== "");
      for (const line of lines.slice(-shownLines)) say(`  ${line}`);
    }
  }

  /** What outlives a service that is killed would go on beside the hook after, and maybe undo it. */
  async function endLeft(mark: string, say: Attempt["say"]): Promise<void> {
    try {
      const { host } = await open();
      const argv = ["sh", "-c", endMarked, "sh", `${markName}=${mark}`] as const;
      const { stdout } = await host.run({ argv, signal: AbortSignal.timeout(timeoutMs) });
      if (stdout !== "") say("Ended the hook before the backup, which was still running.");
    } catch (error) {
      say(`Couldn't look for what the hook before the backup left: ${toError(error).message}`);
    }
  }

  return {
    rehearse: async () => void (await open()),

    async before(say, signal, mark) {
      if (commands.before === null) return;
      say(`Before the backup: ${commands.before.join(" ")}`);
      const reason = await run(commands.before, say, signal, { [markName]: mark });
      if (reason !== null) throw new SourceError(`The hook before the backup failed: ${reason}`);
    },

    async after(say, left) {
      if (left !== undefined && commands.before !== null) await endLeft(left, say);
      if (commands.after === null) return null;
      say(`After the backup: ${commands.after.join(" ")}`);
      const reason = await run(commands.after, say, null);
      return reason === null ? null : `The hook after the backup failed: ${reason}`;
    },
  };
}
