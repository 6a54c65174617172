// The connection to one server: one `ssh` process that all commands share, and that is replaced when it is lost.
import { spawn } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { ExactReader } from "../hosts/exact-input.ts";
import { eachLine } from "../hosts/lines.ts";
import { askMaster, until } from "./ask-master.ts";
import { backoffMs } from "./backoff.ts";
import { pinHostKeys } from "./host-keys.ts";
import { createLimiter, type Limiter } from "./limiter.ts";
import { startMaster, type Identity, type Master } from "./master.ts";
import { explainControl, ServerAway } from "./server-away.ts";
import { placeOf, socketIn, sshArguments, type SshTarget } from "./target.ts";

type ConnectionOptions = {
  target: SshTarget;
  /** A folder that no other account can enter. Its path is short, because the length of a socket's path is limited. */
  folder: string;
  /** Environment of `ssh`: PATH, HOME, and the socket of an agent if there is one. */
  environment: Record<string, string>;
  /** Limits how many connections to all servers are made at once. */
  attempts: Limiter;
  /** How long an operation with a single response may take; milliseconds. */
  answerMs?: number;
};

export type Session = {
  /** Arguments of `ssh` up to the remote command. */
  args: string[];
  environment: Record<string, string>;
  /** What reads an exact number of bytes on the server. */
  reader: ExactReader;
  /** Aborted when the connection is lost, with a ServerAway as the reason. */
  lost: AbortSignal;
};

type SessionOptions = { isBulk: boolean; signal?: AbortSignal | undefined };
type SessionUse<Result> = (session: Session, started: () => void) => Promise<Result>;

type Forward = {
  /** Path of a local socket that is forwarded to the one on the server. */
  path: string;
  /** Aborted when the connection is lost; a new forward is needed then. */
  lost: AbortSignal;
  close(): Promise<void>;
};

export type Asking = {
  signal?: AbortSignal | undefined;
  /** Waits for the next attempt instead of throwing the error of a recent one, because the server may be back by now. */
  isPatient?: boolean;
};

export type Connection = {
  place: string;
  user: string;
  answerMs: number;
  /**
   * Connects if necessary.
   * @returns the account that logs in
   * @throws ServerAway, at once while a failed attempt is recent
   */
  identify(asking?: Asking): Promise<Identity>;
  /**
   * Has the server echo a line. A connection without a reply in time is ended.
   * @returns the round trip time; milliseconds
   * @throws ServerAway
   */
  ping(): Promise<number>;
  /**
   * Runs a quick command as the account that logs in, without a session of its own.
   * @returns the first line that it prints
   * @throws ServerAway, or an Error where the command takes longer than `limitMs`
   */
  firstLine(argv: readonly string[], limitMs: number): Promise<string>;
  /**
   * Waits for a free session on the shared connection, or opens a connection of its own for bulk data.
   * @param use calls `started` as soon as the server responds
   */
  withSession<Result>(options: SessionOptions, use: SessionUse<Result>): Promise<Result>;
  /**
   * Forwards a new local socket to the server.
   * @param to absolute path of a socket there that the login account may open, or `[host]:port`
   * @throws ServerAway
   */
  forward(to: string): Promise<Forward>;
  /** Lets the next call connect at once, even after a recent failure. */
  retryNow(): void;
  /** Ends the connection, and everything that runs on it. */
  close(): Promise<void>;
};

/** By default sshd allows ten sessions on a connection (MaxSessions), and the master uses one itself. */
const maxSessions = 8;
const defaultAnswerMs = 20_000;

export function createConnection(options: ConnectionOptions): Connection {
  const { target, folder, environment, attempts, answerMs = defaultAnswerMs } = options;
  const place = placeOf(target);
  const sessions = createLimiter(maxSessions);
  let master: Master | null = null;
  let connecting: Promise<Master> | null = null;
  let isPinned = false;
  /** Aborted by `close`. */
  const closing = new AbortController();
  let failures = 0;
  let recent: { error: unknown; untilMs: number } | null = null;
  let forwards = 0;
  const bulk = new Set<AbortController>();
  const attempt = { target, folder, environment, signal: closing.signal };
  const sessionOf = ({ identity }: Master, args: string[], lost: AbortSignal): Session => ({
    args: [...args, "--", target.host],
    environment,
    reader: identity.reader,
    lost,
  });

  async function reach(): Promise<Master> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (!isPinned) await pinHostKeys(target, attempt);
    isPinned = true;
    try {
      return await startMaster(attempt, answerMs);
    } catch (error) {
      if (!(error instanceof ServerAway) || error.kind !== "host key") throw error;
      // Throws an error that names the key that the server offers now.
      await pinHostKeys(target, attempt);
      return startMaster(attempt, answerMs);
    }
  }

  async function connect(): Promise<Master> {
    try {
      // New attempts come first, so that servers that do not respond hold up none that does.
      const canWait = failures > 0;
      const made = await attempts.run(reach, closing.signal, canWait);
      if (closing.signal.aborted) {
        made.child.kill("SIGKILL");
        closing.signal.throwIfAborted();
      }
      failures = 0;
      recent = null;
      master = made;
      return made;
    } catch (error) {
      failures += 1;
      // The next attempt finds out which key the server offers now.
      if (error instanceof ServerAway && error.kind === "host key") isPinned = false;
      recent = { error, untilMs: performance.now() + backoffMs(failures) };
      throw error;
    } finally {
      connecting = null;
    }
  }

  async function ensure(signal?: AbortSignal, isPatient = false): Promise<Master> {
    signal?.throwIfAborted();
    closing.signal.throwIfAborted();
    if (master !== null && !master.lost.signal.aborted) return master;
    if (connecting === null) {
      const failed = recent;
      const leftMs = failed === null ? 0 : failed.untilMs - performance.now();
      if (failed !== null && leftMs > 0) {
        if (!isPatient) throw failed.error;
        await until(wait(leftMs), signal);
        // Keeps the error of a newer attempt.
        if (recent === failed) recent = null;
        return ensure(signal);
      }
      connecting = connect();
    }
    // All callers share the attempt: a caller that aborts does not end it.
    return until(connecting, signal);
  }

  function giveUp(found: Master, away: ServerAway): void {
    found.lost.abort(away);
    found.child.kill("SIGKILL");
    if (master === found) master = null;
  }

  async function pingMaster(found: Master): Promise<number> {
    const startMs = performance.now();
    await askMaster(found, [], answerMs, () =>
      giveUp(found, new ServerAway("silent", `${place} stopped responding.`)),
    );
    return performance.now() - startMs;
  }

  return {
    place,
    user: target.user,
    answerMs,
    identify: async ({ signal, isPatient } = {}) => (await ensure(signal, isPatient)).identity,
    ping: async () => pingMaster(await ensure()),
    firstLine: async (argv, limitMs) => askMaster(await ensure(), argv, limitMs),

    async withSession<Result>({ isBulk, signal }: SessionOptions, use: SessionUse<Result>) {
      const found = await ensure(signal);
      if (!isBulk)
        return sessions.run(async () => {
          // The connection may have been lost while this call waited.
          const current = await ensure(signal);
          const args = sshArguments(target, folder, ["-S", socketIn(folder)]);
          try {
            return await use(sessionOf(current, args, current.lost.signal), () => undefined);
          } catch (error) {
            // A session that does not start may mean a dead connection. The ping replaces the connection unless it responds.
            if (error instanceof ServerAway && error.kind === "silent")
              void pingMaster(current).catch(() => undefined);
            throw error;
          }
        }, signal);
      found.lost.signal.throwIfAborted();
      const ended = new AbortController();
      bulk.add(ended);
      const started = Promise.withResolvers<void>();
      const args = sshArguments(target, folder, ["-S", "none", "-o", "ClearAllForwardings=yes"]);
      const run = Promise.withResolvers<Result>();
      run.promise.catch(() => undefined);
      try {
        // The connection counts as an attempt until the server responds.
        await attempts.run(async () => {
          run.resolve(use(sessionOf(found, args, ended.signal), started.resolve));
          await Promise.race([started.promise, run.promise.catch(() => undefined)]);
        }, signal);
        return await run.promise;
      } finally {
        bulk.delete(ended);
      }
    },

    async forward(remotePath) {
      const found = await ensure();
      forwards += 1;
      const path = join(folder, `f${forwards}`);
      const args = [
        // Without the master, `ssh` would connect by itself, and exit with 0 without having forwarded anything.
        ...sshArguments(target, folder, ["-S", socketIn(folder), "-o", "ProxyCommand=false"]),
        "-o",
        "StreamLocalBindUnlink=yes",
        "-o",
        "StreamLocalBindMask=0177",
      ];
      const spec = `${path}:${remotePath}`;
      await control([...args, "-O", "forward", "-L", spec, "--", target.host]);
      return {
        path,
        lost: found.lost.signal,
        async close() {
          if (!found.lost.signal.aborted)
            await control([...args, "-O", "cancel", "-L", spec, "--", target.host]).catch(
              () => undefined,
            );
          await rm(path, { force: true });
        },
      };
    },

    retryNow() {
      recent = null;
      failures = 0;
    },

    async close() {
      const away = new ServerAway("lost", `The connection to ${place} was closed.`);
      closing.abort(away);
      for (const ended of bulk) ended.abort(away);
      await connecting?.catch(() => undefined);
      const found = master;
      if (found !== null) {
        giveUp(found, away);
        await found.closed;
      }
      // This also ends connections to servers that left the inventory, where no caller handles an error; `ssh` may still be
      // writing there.
      await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
    },
  };

  /**
   * Sends a control command (`ssh -O`) to the master.
   * @throws ServerAway
   */
  async function control(args: string[]): Promise<void> {
    const child = spawn("ssh", args, {
      cwd: "/",
      env: environment,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    eachLine(child.stderr, (line) => {
      stderr = `${stderr}${line}\n`.slice(-8192);
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), answerMs);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    }).finally(() => clearTimeout(timer));
    if (code !== 0) throw explainControl(stderr, place);
  }
}
