// Runs the commands of the inventory before and after each backup of a source. Requests cannot change them.
import { endInWords, isKilled } from "../../hosts/end-in-words.ts";
import { CommandMissing, type Host } from "../../hosts/host.ts";
import { toError } from "../../to-error.ts";
import { SourceError, type Attempt, type Hooks } from "../sources/source.ts";

/** Commands as argument lists; null = none. */
type HookCommands = {
  before: readonly string[] | null;
  after: readonly string[] | null;
  timeoutMs: number;
};

/** Environment variable that marks the processes of the hook before a backup. */
const markName = "QUARTERDECK_BACKUP";

/** Shell script: kills processes with `$1` in their environment; repeated, because they may start others meanwhile. */
const endMarked = `for _ in 1 2 3; do
  for at in $(grep -lzxFs -- "$1" /proc/[0-9]*/environ); do
    at=\${at#/proc/}
    kill -KILL "\${at%/environ}" && echo ended
  done
done`;

const keptCharacters = 4096;
const shownLines = 20;

/** Where the hooks run: the machine as their account, and the folder. */
type HookPlace = { host: Pick<Host, "run">; folder: string };

/** @param open throws where the hooks cannot run */
export function createHooks(open: () => Promise<HookPlace>, commands: HookCommands): Hooks {
  const { timeoutMs } = commands;

  /** @returns why the hook failed; null = it succeeded @throws the reason of the signal */
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
      const end = await host.run({
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
      if (end.exitCode === 0) return null;
      const words = `${argv.join(" ")} ${endInWords(end)}`;
      return lastError === "" || isKilled(end) ? words : words.replace(/\.$/, `: ${lastError}`);
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

  /** Ends a first hook that outlived a killed service: it could run at the same time as the second hook, and undo it. */
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
