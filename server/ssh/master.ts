// Starts the one `ssh` process that all commands to a server share, and reads the server's replies.
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import type { ExactReader } from "../hosts/exact-input.ts";
import { eachLine } from "../hosts/lines.ts";
import { namesOf } from "./host-keys.ts";
import { loginCommand, pulseScript, sendable, startMark } from "./remote-script.ts";
import { explainLogin, explainSsh, ServerAway, toShownText } from "./server-away.ts";
import { connectSeconds, placeOf, socketIn, sshArguments, type SshTarget } from "./target.ts";

/** The account that the service logs in as, and the system of the server. */
export type Identity = {
  uid: number;
  gid: number;
  name: string;
  home: string;
  system: string;
  /** What reads an exact number of bytes there. */
  reader: ExactReader;
};

export type Master = {
  child: ChildProcess;
  nonce: string;
  identity: Identity;
  lost: AbortController;
  closed: Promise<void>;
  /** Resolvers of replies, by the first word of the line that was sent. */
  answers: Map<string, (text: string) => void>;
};

/** Exit code of `ssh` for its own errors; any other code is that of the remote command. */
const ofSsh = 255;

type MasterOptions = {
  target: SshTarget;
  /** The folder of the control socket. */
  folder: string;
  environment: Record<string, string>;
  /** Ends the attempt. */
  signal: AbortSignal;
};

/**
 * Connects, and reads which account logs in.
 * @param answerMs how long the server may take to respond once it was reached; milliseconds
 * @throws ServerAway, the signal's reason
 */
export async function startMaster(
  { target, folder, environment, signal }: MasterOptions,
  answerMs: number,
): Promise<Master> {
  const place = placeOf(target);
  const socket = socketIn(folder);
  await rm(socket, { force: true });
  signal.throwIfAborted();
  const nonce = randomBytes(16).toString("hex");
  const args = sshArguments(target, folder, ["-M", "-S", socket, "-o", "ClearAllForwardings=yes"]);
  const child = spawn("ssh", [...args, "--", target.host, loginCommand([], "head")], {
    cwd: "/",
    env: environment,
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const { stdin, stdout } = child;
  const ready = Promise.withResolvers<Identity>();
  const lost = new AbortController();
  const answers: Master["answers"] = new Map();
  let stderr = "";
  let said = "";
  stdin.on("error", () => undefined);
  eachLine(child.stderr, (line) => {
    stderr = `${stderr}${line}\n`.slice(-8192);
  });
  eachLine(stdout, (line) => {
    const start = `${startMark(nonce)} `;
    if (line.startsWith(start)) readIdentity(line.slice(start.length), place, ready);
    else if (line.startsWith(`quarterdeck ${nonce} `)) {
      const [, , key = "", ...words] = line.split(" ");
      answers.get(key)?.(words.join(" "));
    } else said = `${said}${line}\n`.slice(-2048);
  });
  const closed = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      ready.reject(new ServerAway("setup", `ssh could not be started: ${error.message}`));
      resolve();
    });
    child.once("close", (code) => {
      ready.reject(
        code === null || code === ofSsh
          ? explainSsh(stderr === "" ? said : stderr, { ...namesOf(target), place })
          : explainLogin(stderr === "" ? said : stderr, { place, user: target.user }),
      );
      lost.abort(new ServerAway("lost", `The connection to ${place} was lost.`));
      resolve();
    });
  });
  ready.promise.catch(() => undefined);
  stdin.write(sendable(pulseScript(nonce)));
  // `ssh` limits the time to connect itself; the rest is the server's time to respond.
  const timer = setTimeout(
    () => {
      ready.reject(
        new ServerAway("silent", `${place} accepted the connection and then did not respond.`),
      );
      child.kill("SIGKILL");
    },
    connectSeconds * 1000 + answerMs,
  );
  const abort = () => ready.reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    return { child, nonce, identity: await ready.promise, lost, closed, answers };
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

function readIdentity(
  line: string,
  place: string,
  { resolve, reject }: Pick<PromiseWithResolvers<Identity>, "resolve" | "reject">,
): void {
  const [uid = "", gid = "", leads, reader, system = "", name = "", ...home] = line.split(" ");
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
    reader: reader === "dd" ? "dd" : "head",
    system: toShownText(system, 64),
    name: toShownText(name, 64),
    home: home.join(" ") || "/",
  });
}
