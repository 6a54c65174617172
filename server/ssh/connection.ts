// The connection to one server: one `ssh` of ours that all commands share, watched, and replaced when it is lost.
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { eachLine } from "../hosts/lines.ts";
import { toError } from "../to-error.ts";
import { backoffMs } from "./backoff.ts";
import { namesOf, pinHostKeys } from "./host-keys.ts";
import { createLimiter, type Limiter } from "./limiter.ts";
import { loginCommand, pulseScript, sendable, startMark } from "./remote-script.ts";
import { explainSsh, ServerAway, toShownText } from "./server-away.ts";
import { connectSeconds, placeOf, socketIn, sshArguments, type SshTarget } from "./target.ts";

/** Who the service is on the server. */
type Identity = { uid: number; gid: number; name: string; home: string; system: string };

type ConnectionOptions = {
  target: SshTarget;
  /** A folder that nobody else can enter; its path is short, because that of a socket must be. */
  folder: string;
  /** What `ssh` sees: where programs are, and maybe where an agent listens. */
  environment: Record<string, string>;
  /** Shared by all servers: so many connections are being made at once. */
  attempts: Limiter;
  /** How long anything may take that needs one answer only; milliseconds. */
  answerMs?: number;
};

export type Session = {
  /** Arguments of `ssh` up to the command. */
  args: string[];
  environment: Record<string, string>;
  /** Aborted when the connection is gone; its reason is a ServerAway. */
  lost: AbortSignal;
};

type SessionOptions = { isBulk: boolean; signal?: AbortSignal | undefined };
type SessionUse<Result> = (session: Session, started: () => void) => Promise<Result>;

type Forward = {
  /** Of a socket on this machine that leads to the one on the server. */
  path: string;
  /** Aborted when the connection is gone; a new one has to be made then. */
  lost: AbortSignal;
  close(): Promise<void>;
};

export type Connection = {
  place: string;
  user: string;
  answerMs: number;
  /** Connects where that is needed. @throws ServerAway, at once while a failed attempt is recent */
  identify(signal?: AbortSignal): Promise<Identity>;
  /**
   * Has the server return a line. A connection that does not is given up.
   * @returns how long that took; milliseconds
   * @throws ServerAway
   */
  ping(): Promise<number>;
  /**
   * Waits for one of the sessions on the shared connection, or makes one of its own.
   * @param use gets to call `started` as soon as the server responds
   */
  withSession<Result>(options: SessionOptions, use: SessionUse<Result>): Promise<Result>;
  /** @param to absolute path of a socket there, open to the account that is logged in, or `[host]:port`. @throws ServerAway */
  forward(to: string): Promise<Forward>;
  /** Lets the next call try at once, whatever failed before. */
  retryNow(): void;
  /** Ends it, and everything that runs on it. */
  close(): Promise<void>;
};

/** sshd refuses the eleventh; one is the connection's own. */
const maxSessions = 8;
const defaultAnswerMs = 20_000;

type Master = {
  child: ChildProcess;
  nonce: string;
  identity: Identity;
  lost: AbortController;
  closed: Promise<void>;
  pings: Map<string, () => void>;
};

export function createConnection(options: ConnectionOptions): Connection {
  const { target, folder, environment, attempts, answerMs = defaultAnswerMs } = options;
  const place = placeOf(target);
  const names = { ...namesOf(target), place };
  const sessions = createLimiter(maxSessions);
  let master: Master | null = null;
  let connecting: Promise<Master> | null = null;
  let isPinned = false;
  let isClosed = false;
  let failures = 0;
  let recent: { error: unknown; untilMs: number } | null = null;
  let forwards = 0;
  const bulk = new Set<AbortController>();

  async function connect(): Promise<Master> {
    try {
      const made = await attempts.run(async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        if (!isPinned) await pinHostKeys(target, { folder, environment });
        isPinned = true;
        try {
          return await startMaster();
        } catch (error) {
          if (!(error instanceof ServerAway) || error.kind !== "host key") throw error;
          // Says which key it offers now.
          await pinHostKeys(target, { folder, environment });
          return startMaster();
        }
      });
      if (isClosed) {
        made.child.kill("SIGKILL");
        throw new ServerAway("lost", `The connection to ${place} was closed.`);
      }
      failures = 0;
      recent = null;
      master = made;
      return made;
    } catch (error) {
      failures += 1;
      // Which key it offers now is found out by the next attempt.
      if (error instanceof ServerAway && error.kind === "host key") isPinned = false;
      recent = { error, untilMs: performance.now() + backoffMs(failures) };
      throw error;
    } finally {
      connecting = null;
    }
  }

  async function startMaster(): Promise<Master> {
    const socket = socketIn(folder);
    await rm(socket, { force: true });
    const nonce = randomBytes(16).toString("hex");
    const args = sshArguments(target, folder, [
      "-M",
      "-S",
      socket,
      "-o",
      "ClearAllForwardings=yes",
    ]);
    const child = spawn("ssh", [...args, "--", target.host, loginCommand([])], {
      cwd: "/",
      env: environment,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    const { stdin, stdout } = child;
    const ready = Promise.withResolvers<Identity>();
    const lost = new AbortController();
    const pings: Master["pings"] = new Map();
    let stderr = "";
    let said = "";
    stdin.on("error", () => undefined);
    eachLine(child.stderr, (line) => {
      stderr = `${stderr}${line}\n`.slice(-8192);
    });
    eachLine(stdout, (line) => {
      const start = `${startMark(nonce)} `;
      if (line.startsWith(start)) readIdentity(line.slice(start.length), place, ready);
      else if (line.startsWith(`quarterdeck ${nonce} `)) pings.get(line.split(" ")[2] ?? "")?.();
      else said = `${said}${line}\n`.slice(-2048);
    });
    const closed = new Promise<void>((resolve) => {
      child.once("error", (error) => {
        ready.reject(new ServerAway("setup", `ssh could not be started: ${error.message}`));
        resolve();
      });
      child.once("close", () => {
        ready.reject(explainSsh(stderr === "" ? said : stderr, names));
        lost.abort(new ServerAway("lost", `The connection to ${place} was lost.`));
        resolve();
      });
    });
    ready.promise.catch(() => undefined);
    stdin.write(sendable(pulseScript(nonce)));
    // Reaching the server has its own limit, so what is left is the server's part.
    const timer = setTimeout(
      () => {
        ready.reject(
          new ServerAway("silent", `${place} accepted the connection and then did not respond.`),
        );
        child.kill("SIGKILL");
      },
      connectSeconds * 1000 + answerMs,
    );
    try {
      return { child, nonce, identity: await ready.promise, lost, closed, pings };
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async function ensure(signal?: AbortSignal): Promise<Master> {
    signal?.throwIfAborted();
    if (isClosed) throw new ServerAway("lost", `The connection to ${place} was closed.`);
    if (master !== null && !master.lost.signal.aborted) return master;
    if (connecting === null) {
      if (recent !== null && performance.now() < recent.untilMs) throw recent.error;
      connecting = connect();
    }
    // The attempt is everybody's; whoever gives up leaves it to the others.
    return signal === undefined ? connecting : until(connecting, signal);
  }

  function giveUp(found: Master, away: ServerAway): void {
    found.lost.abort(away);
    found.child.kill("SIGKILL");
    if (master === found) master = null;
  }

  async function pingMaster(found: Master): Promise<number> {
    const key = randomBytes(6).toString("hex");
    const heard = Promise.withResolvers<void>();
    const startMs = performance.now();
    found.pings.set(key, heard.resolve);
    const timer = setTimeout(() => {
      giveUp(found, new ServerAway("silent", `${place} stopped responding.`));
    }, answerMs);
    try {
      found.child.stdin?.write(`${key}\n`);
      await until(heard.promise, found.lost.signal);
      return performance.now() - startMs;
    } finally {
      clearTimeout(timer);
      found.pings.delete(key);
    }
  }

  return {
    place,
    user: target.user,
    answerMs,
    identify: async (signal) => (await ensure(signal)).identity,
    ping: async () => pingMaster(await ensure()),

    async withSession<Result>({ isBulk, signal }: SessionOptions, use: SessionUse<Result>) {
      const found = await ensure(signal);
      if (!isBulk)
        return sessions.run(async () => {
          // It may have been lost while this one waited.
          const current = await ensure(signal);
          const args = sshArguments(target, folder, ["-S", socketIn(folder)]);
          try {
            return await use(
              { args: [...args, "--", target.host], environment, lost: current.lost.signal },
              () => undefined,
            );
          } catch (error) {
            // A connection on which nothing starts is of no use: either it still responds, or it is replaced.
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
        // Counts as an attempt until the server responds.
        await attempts.run(async () => {
          const session = { args: [...args, "--", target.host], environment, lost: ended.signal };
          run.resolve(use(session, started.resolve));
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
        ...sshArguments(target, folder, ["-S", socketIn(folder)]),
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
      isClosed = true;
      const away = new ServerAway("lost", `The connection to ${place} was closed.`);
      for (const ended of bulk) ended.abort(away);
      await connecting?.catch(() => undefined);
      const found = master;
      if (found !== null) {
        giveUp(found, away);
        await found.closed;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };

  /** Asks the master for something that it does at once. */
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
    if (code !== 0 && stderr.includes("Control socket connect"))
      throw new ServerAway("lost", `The connection to ${place} was lost.`);
    if (code !== 0)
      throw new ServerAway(
        "silent",
        `The connection to ${place} did not do what it was asked to: ${toShownText(stderr)}`,
      );
  }
}

function readIdentity(
  line: string,
  place: string,
  { resolve, reject }: Pick<PromiseWithResolvers<Identity>, "resolve" | "reject">,
): void {
  const [uid = "", gid = "", leads, system = "", name = "", ...home] = line.split(" ");
  if (leads !== "yes")
    return reject(
      new ServerAway(
        "setup",
        `${place} does not run commands in process groups of their own, as OpenSSH's sshd does.`,
      ),
    );
  if (!/^\d+$/.test(uid) || !/^\d+$/.test(gid))
    return reject(new ServerAway("setup", `${place} does not say who its user is.`));
  resolve({
    uid: Number(uid),
    gid: Number(gid),
    system: toShownText(system, 64),
    name: toShownText(name, 64),
    home: home.join(" ") || "/",
  });
}

/** @throws the signal's reason where that comes first */
async function until<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(toError(signal.reason));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
