// Runs one command on the service's own machine: connects its streams, and ends everything that it started.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { type Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { callbackify } from "node:util";
import type { Account } from "./account.ts";
import { accountEnvironment, asAccount, enterFolder, startFailure } from "./as-account.ts";
import { bringingGiven, descriptorsOf, openGiven } from "./given-file.ts";
import { CommandMissing, type Command, type CommandEnd, type LocalCommand } from "./host.ts";
import { eachLine } from "./lines.ts";
import { mayHang } from "./mounts.ts";
import { openOwnPipe } from "./own-pipe.ts";
import { toError } from "../to-error.ts";
import { writeTo } from "../write-to.ts";

const keptOutputBytes = 1024 * 1024;
const keptErrorCharacters = 16 * 1024;

/**
 * @param environment of every command: PATH and HOME. Nothing else of the service's own environment gets through, because it
 * holds secrets, and PG… variables that would mislead the tools.
 * @param account the account to run as; null = the service's own
 */
export const createRunner =
  (environment: Record<string, string>, account: Account | null = null) =>
  async (asked: LocalCommand): Promise<CommandEnd> => {
    const temporary = environment["TMPDIR"] ?? tmpdir();
    const command = account === null ? asked : bringingGiven(asked);
    const { folder = "/" } = command;
    const isEnteredHere = account === null && (folder === "/" || !mayHang(folder));
    const [program, ...args] = isEnteredHere
      ? command.argv
      : account === null
        ? enterFolder(folder, command.argv)
        : asAccount(account, folder, command.argv);
    command.signal?.throwIfAborted();
    const { take } = command;
    const given = account === null ? await openGiven(command, temporary) : [];
    // Where no pipe of our own can be opened, an ordinary one is slower.
    const pipe = take === undefined ? null : await openOwnPipe(take).catch(() => null);
    const child = spawn(program, args, {
      cwd: isEnteredHere ? folder : "/",
      env: {
        ...environment,
        ...(account === null ? {} : accountEnvironment(account)),
        LC_ALL: "C.UTF-8",
        ...command.environment,
      },
      // A group of its own, so that an abort also reaches the program's children.
      detached: true,
      stdio: [
        "pipe",
        pipe?.writing ?? "pipe",
        "pipe",
        ...descriptorsOf(command.files ?? [], given),
      ],
      // No overload of `spawn` accepts a custom stream among the three.
    }) as ChildProcessByStdio<Writable, Readable | null, Readable>;
    pipe?.writing.destroy();
    // Not awaited: the output of a program that ends before anyone listens would be lost.
    for (const file of given) file.close().catch(() => undefined);
    const ended = once(child, "close").then(
      ([exitCode, endSignal]): [number | null, string | null] => [exitCode, endSignal],
    );
    try {
      await once(child, "spawn");
    } catch (error) {
      ended.catch(() => undefined);
      pipe?.close();
      throw new CommandMissing(`${program} could not be started: ${toError(error).message}`);
    }

    const endGroup = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // The group has ended already.
      }
      pipe?.close();
    };
    /** Called only once the cause is known, because closed streams would hide it. */
    const letGo = () => {
      endGroup();
      // A program that left the group may keep its streams open, which must not be waited for.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    };
    // An input that waits for its own source does not notice that its reader is gone.
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => undefined);
    const abort = () => {
      letGo();
      aborted.reject(toError(command.signal?.reason));
    };
    command.signal?.addEventListener("abort", abort, { once: true });
    if (command.signal?.aborted === true) abort();

    let stderr = "";
    eachLine(child.stderr, (line) => {
      stderr = `${stderr}${line}\n`.slice(-keptErrorCharacters);
      command.onErrorLine?.(line);
    });
    let stdout = "";
    const takeOutput = async () => {
      if (child.stdout === null) return pipe?.taken;
      if (command.output !== undefined) return pipeline(child.stdout, command.output);
      if (take !== undefined) return pipeline(child.stdout, eachPiece(take));
      const chunks: AsyncIterable<string> = child.stdout.setEncoding("utf8");
      for await (const chunk of chunks) if (stdout.length < keptOutputBytes) stdout += chunk;
    };
    const streams = Promise.all([takeOutput(), feed(command, child.stdin, endGroup)]);
    let end: CommandEnd;
    try {
      // Processes that the command left running may keep its error output open.
      const all = Promise.all([ended, streams]);
      const [[exitCode, signal]] = await Promise.race([all, aborted.promise]);
      end = { exitCode, signal, stdout, stderr };
    } catch (error) {
      letGo();
      await ended;
      command.signal?.throwIfAborted();
      throw error;
    } finally {
      command.signal?.removeEventListener("abort", abort);
    }
    command.signal?.throwIfAborted();
    const failure = isEnteredHere ? null : startFailure(end.exitCode, end.stderr);
    if (failure !== null)
      throw new CommandMissing(`${command.argv[0]} could not be started: ${failure}`);
    return end;
  };

/** @returns a stream that passes pieces to `take`, one at a time */
function eachPiece(take: (piece: Buffer) => Promise<void>): Writable {
  const taken = callbackify(async (piece: Buffer) => take(piece));
  return new Writable({ write: (piece: Buffer, _encoding, done) => taken(piece, done) });
}

async function feed(
  { input, release }: Command,
  stdin: Writable,
  endGroup: () => void,
): Promise<void> {
  if (input === undefined) return void stdin.end();
  // Set by the pipe, because the code of the error depends on which end was noticed first.
  let isBroken = false;
  const breakOff = () => {
    if (stdin.destroyed) return;
    isBroken = true;
    // Before the pipe is closed, so that the program does not take a broken input for a complete one.
    endGroup();
  };
  input.once("error", breakOff).once("close", () => input.readableEnded || breakOff());
  try {
    if (input.destroyed) breakOff();
    const fed =
      release === undefined
        ? pipeline(input, stdin)
        : pipeline(input, (pieces: AsyncIterable<Buffer>) => feedEach(pieces, stdin, release));
    fed.catch(() => undefined);
    // Once the command has ended, the rest of its input is not awaited.
    await Promise.race([fed, once(stdin, "close")]);
    if (isBroken) await fed;
  } catch (error) {
    // A program may end before it has read all input; its exit code says whether that was right.
    // What was to be written when the group was ended fails with an error of its own.
    if (isBroken) throw input.errored ?? error;
  }
}

async function feedEach(
  pieces: AsyncIterable<Buffer>,
  stdin: Writable,
  release: (piece: Buffer) => void,
): Promise<void> {
  for await (const piece of pieces) {
    await writeTo(stdin, piece);
    release(piece);
  }
  stdin.end();
}
