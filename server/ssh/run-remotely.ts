// Runs one command on a server: streams its input and output, distinguishes its end from a lost connection, and leaves nothing
// running.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { bringingGiven } from "../hosts/given-file.ts";
import { CommandMissing, type Command, type CommandEnd } from "../hosts/host.ts";
import { eachLine } from "../hosts/lines.ts";
import { openOwnPipe } from "../hosts/own-pipe.ts";
import { toError } from "../to-error.ts";
import { createBetweenMarks } from "./between-marks.ts";
import type { Connection, Session } from "./connection.ts";
import { feedFrames } from "./feed-frames.ts";
import { commandScript, endMark, loginCommand, sendable, startMark } from "./remote-script.ts";
import { ServerAway, toShownText } from "./server-away.ts";

const keptOutputBytes = 1024 * 1024;
const keptErrorCharacters = 16 * 1024;
/** How long an aborted command may take to end after its input was closed, before a second command kills it. */
const abortGraceMs = 1000;

type Runner = (command: Command) => Promise<CommandEnd>;

/** The words before a command that make it run as another account, and the account's name in a sudoers file. */
export type Becoming = { words: readonly string[]; sudoName: string };

/** @param as null = the account that logs in */
export const createRemoteRunner =
  (connection: Connection, as: Becoming | null): Runner =>
  async (asked) => {
    const command = bringingGiven(asked);
    const { signal, isSmall = false } = command;
    const moves = [command.input, command.output, command.take].some((part) => part !== undefined);
    return connection.withSession({ isBulk: moves && !isSmall, signal }, (session, started) =>
      runIn(session, command, { connection, as, started }),
    );
  };

type Circumstances = { connection: Connection; as: Becoming | null; started: () => void };

async function runIn(
  { args, environment, reader, lost }: Session,
  command: Command,
  { connection, as, started }: Circumstances,
): Promise<CommandEnd> {
  const { argv, folder = "/", signal, take } = command;
  const [program] = argv;
  // An operator has never seen the service's own scripts, so they are not named.
  const shown = program === "sh" ? "a command" : program;
  const { place } = connection;
  const nonce = randomBytes(16).toString("hex");
  const script = commandScript(nonce, { argv, folder, environment: command.environment ?? {} });
  const pipe = take === undefined ? null : await openOwnPipe(filtered(take)).catch(() => null);

  function filtered(taken: (piece: Buffer) => Promise<void>) {
    return async (piece: Buffer) => {
      for (const part of between.take(piece)) await taken(part);
      if (between.hasEnded()) outputEnded.resolve();
    };
  }

  const between = createBetweenMarks(startMark(nonce), endMark(nonce));
  const outputEnded = Promise.withResolvers<void>();
  const child = spawn("ssh", [...args, loginCommand(as?.words ?? [], reader)], {
    cwd: "/",
    env: environment,
    detached: true,
    stdio: ["pipe", pipe?.writing ?? "pipe", "pipe"],
  });
  pipe?.writing.destroy();
  const { stdin, stdout, stderr: errors } = child;
  if (stdin === null || errors === null) throw new Error("A pipe of a new process is missing.");

  // Rejected with what ended the command early; the first reason counts.
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined);
  const ended = Promise.withResolvers<string>();
  ended.promise.catch(() => undefined);
  let group = "";
  let isStarted = false;
  let isEnded = false;
  let before = "";
  let stderr = "";
  let emptyLines = 0;

  const startTimer = setTimeout(() => {
    broken.reject(new ServerAway("silent", `${place} did not start ${shown} in time.`));
  }, connection.answerMs);
  const say = (line: string) => {
    stderr = `${stderr}${line}\n`.slice(-keptErrorCharacters);
    command.onErrorLine?.(line);
  };
  eachLine(errors, (line) => {
    const start = `${startMark(nonce)} `;
    const end = `${endMark(nonce)} `;
    if (!isStarted) {
      isStarted = line.startsWith(start);
      if (!isStarted) before = `${before}${line}\n`.slice(-keptErrorCharacters);
      else {
        group = /^\d+$/.exec(line.slice(start.length))?.[0] ?? "";
        clearTimeout(startTimer);
        started();
      }
    } else if (line.startsWith(end)) {
      isEnded = true;
      ended.resolve(line.slice(end.length));
    }
    // The end mark starts on a new line, so the last empty line before it may not be the command's own.
    else if (line === "") emptyLines += 1;
    else {
      for (; emptyLines > 0; emptyLines -= 1) say("");
      say(line);
    }
  });
  const closed = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      broken.reject(new ServerAway("setup", `ssh could not be started: ${error.message}`));
      resolve();
    });
    child.once("close", () => {
      resolve();
      // All output has arrived, and only has to be consumed.
      if (isEnded && between.hasEnded()) return;
      const reason = isStarted
        ? new ServerAway("lost", `The connection to ${place} was lost while ${shown} ran there.`)
        : explainStart(before, connection, { as, program });
      // The pipe is read to its end first, because the end mark may be in it.
      if (pipe === null) broken.reject(reason);
      else void pipe.taken.catch(() => undefined).then(() => broken.reject(reason));
    });
  });
  const onLost = () => broken.reject(toError(lost.reason));
  const onAbort = () => broken.reject(toError(signal?.reason));
  lost.addEventListener("abort", onLost, { once: true });
  signal?.addEventListener("abort", onAbort, { once: true });
  if (lost.aborted) onLost();
  if (signal?.aborted === true) onAbort();

  stdin.on("error", () => undefined);
  stdin.write(sendable(script));
  const feeding = feedFrames(command.input, stdin);
  feeding.catch(broken.reject);

  let kept = "";
  const taken = takeOutput();
  taken.catch(broken.reject);
  async function takeOutput(): Promise<void> {
    if (stdout === null) {
      const reading = pipe?.taken ?? Promise.resolve();
      return Promise.race([outputEnded.promise, reading.then(() => cutOff())]);
    }
    if (command.output !== undefined) return pipeline(contentOf(stdout), command.output);
    if (take !== undefined) {
      for await (const piece of contentOf(stdout)) await take(piece);
      return;
    }
    const decoder = new TextDecoder();
    for await (const piece of contentOf(stdout))
      if (kept.length < keptOutputBytes) kept += decoder.decode(piece, { stream: true });
    kept += decoder.decode();
  }
  async function* contentOf(stream: Readable): AsyncGenerator<Buffer> {
    const pieces: AsyncIterable<Buffer> = stream;
    for await (const piece of pieces) {
      yield* between.take(piece);
      if (between.hasEnded()) return;
    }
    await cutOff();
  }
  /** Waits for the reason, which is known once the process is gone. */
  const cutOff = async (): Promise<void> => broken.promise;

  let isOver = false;
  try {
    const [code] = await Promise.race([Promise.all([ended.promise, taken]), broken.promise]);
    isOver = true;
    signal?.throwIfAborted();
    return toEnd(code, { program, folder, stdout: kept, stderr });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(startTimer);
    lost.removeEventListener("abort", onLost);
    signal?.removeEventListener("abort", onAbort);
    // Without the explicit end before it, the end of the input ends the remote command.
    stdin.end();
    if (!isOver && !lost.aborted) await endThere();
    child.kill("SIGKILL");
    pipe?.close();
    for (const stream of [stdin, stdout, errors]) stream?.destroy();
    await closed;
  }

  /** Ends what runs on the server, as far as the connection allows. */
  async function endThere(): Promise<void> {
    const timer = Promise.withResolvers<"late">();
    const grace = setTimeout(() => timer.resolve("late"), abortGraceMs);
    // The output is discarded, so that a full pipe does not delay the end.
    stdout?.resume();
    const outcome = await Promise.race([closed, timer.promise]);
    clearTimeout(grace);
    // Input that was already sent may hold up the end of the input, so the group is killed by another command.
    if (outcome === "late" && group !== "")
      await createRemoteRunner(
        connection,
        as,
      )({
        argv: ["kill", "-9", "--", `-${group}`],
        signal: AbortSignal.timeout(connection.answerMs),
      }).catch(() => undefined);
  }
}

function toEnd(
  code: string,
  { program, folder, stdout, stderr }: Record<"program" | "folder" | "stdout" | "stderr", string>,
): CommandEnd {
  const failed = (reason: string) =>
    new CommandMissing(`${program} could not be started: ${toShownText(reason)}`);
  if (code === "folder")
    throw failed(`the folder ${folder} is not there, or closed to its account`);
  if (code === "missing") throw failed("it is not installed there");
  if (!/^\d{1,3}$/.test(code))
    throw new ServerAway("lost", `${program} ended without an exit code.`);
  const exitCode = Number(code);
  const last = stderr.trim().split("\n").at(-1) ?? "";
  // See “Exit Status for Commands” in POSIX: found but not executable, not found.
  if ((exitCode === 126 || exitCode === 127) && /^(?:\S*sh): .*\bexec: /.test(last))
    throw failed(last.replace(/^.*\bexec: /, ""));
  const ending = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128);
  return { exitCode: ending ? null : exitCode, signal: ending?.[0] ?? null, stdout, stderr };
}

/** Returns the line of a sudoers file that allows to run commands as that account, and as no other. */
const sudoersLine = (user: string, account: string): string =>
  `${user} ALL=(${account}) NOPASSWD: ALL`;

/** @param before what the server wrote to the error stream in place of the mark */
function explainStart(
  before: string,
  { place, user }: Connection,
  { as, program }: { as: Becoming | null; program: string },
): ServerAway {
  const line = toShownText(before.trim().split("\n").at(-1) ?? "").replace(/\.+$/, "");
  if (as?.words[0] === "sudo" && /\bsudo\b/.test(before))
    return new ServerAway(
      "refused",
      `${user} may not run commands as ${as.sudoName} on ${place} (${line}). ${
        /not found/.test(before) ? "Install sudo there and add" : "Add"
      } this line with “visudo -f /etc/sudoers.d/quarterdeck”: ${sudoersLine(user, as.sudoName)}`,
    );
  // That of BusyBox knows none of the options.
  if (as?.words[0] === "setpriv" && /setpriv: (?:.*not found|unrecognized option)/.test(before))
    return new ServerAway(
      "refused",
      `${place} needs setpriv of util-linux to run commands as another account. Install it there (Alpine: apk add setpriv).`,
    );
  return new ServerAway(
    "lost",
    `${place} ended the session before ${program} was started there${line === "" ? "" : `: ${line}`}.`,
  );
}
