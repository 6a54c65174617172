// Calls supervisord through its socket, with a time limit for each call.
import { type Agent, request } from "node:http";
import { ServerAway } from "../../ssh/server-away.ts";
import { toError } from "../../to-error.ts";
import { decodeAnswer, encodeCall, RpcFault, type RpcArgument, type RpcValue } from "./xml-rpc.ts";

/** Thrown where supervisord cannot be called: its server, its socket or the process is away. The message says which, and what to do. */
export class SupervisordAway extends Error {
  override name = "SupervisordAway";
}

/** Whether an error means that supervisord or its server is unreachable. */
export const isAway = (error: unknown): boolean =>
  error instanceof SupervisordAway || error instanceof ServerAway;

export type Rpc = (method: string, ...args: RpcArgument[]) => Promise<RpcValue>;

type RpcOptions = {
  /** Returns the path of a local socket. */
  openSocket(): Promise<string>;
  /** See `Machine`; called where the connection was closed without a response. */
  whyClosed?(path: string): Promise<string | null>;
  /** Path of the socket on the server, for messages. */
  path: string;
  /** `user:password`; null = it requires none. */
  login: string | null;
  limitMs: number;
  /** Keeps the connection for the next call; without it, each call has its own connection. */
  agent?: Agent;
  /** Global pattern of parts to ignore: if a response differs from the last one only in them, the same value is returned again. */
  passing?: RegExp;
};

/** `SHUTDOWN_STATE` of `supervisor.xmlrpc.Faults`. */
const shutdownState = 6;
/**
 * Code of a fault that supervisord reports as its HTTP status: the method failed, e.g. because a log is not UTF-8. supervisord
 * itself goes on.
 */
export const failedMethod = 500;
/** More than a response with ten thousand processes. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** @returns a function that calls a method of the `supervisor` namespace, and throws `RpcFault`, `SupervisordAway` or `ServerAway` */
export function createRpc(options: RpcOptions): Rpc {
  const { openSocket, whyClosed, path, login, limitMs, agent, passing } = options;
  let last: { text: string; value: RpcValue } | null = null;

  /** Reuses the last value where possible, because parsing a response takes longer than receiving it. */
  function read(answer: string): RpcValue {
    if (passing === undefined) return decodeAnswer(answer);
    const text = answer.replaceAll(passing, "");
    if (text !== last?.text) last = { text, value: decodeAnswer(answer) };
    return last.value;
  }

  return async (method, ...args) => {
    let answer: { status: number; text: string };
    try {
      answer = await post({
        socketPath: await openSocket(),
        body: encodeCall(`supervisor.${method}`, args),
        login,
        signal: AbortSignal.timeout(limitMs),
        agent: agent ?? false,
      });
    } catch (error) {
      // The message of this error already says what to do.
      if (error instanceof ServerAway) throw error;
      const why = isClosed(error) ? await whyClosed?.(path) : null;
      throw new SupervisordAway(
        awayReason(
          why == null ? error : Object.assign(toError(error), { code: why }),
          path,
          limitMs,
        ),
      );
    }
    if (answer.status === 401)
      throw new SupervisordAway(
        `supervisord wants another user name or password on ${path}. Quarterdeck uses those of its configuration file.`,
      );
    if (answer.status === failedMethod)
      throw new RpcFault(
        failedMethod,
        `supervisord answered HTTP ${answer.status} to ${method} on ${path}.`,
      );
    if (answer.status !== 200)
      throw new SupervisordAway(`supervisord answered HTTP ${answer.status} on ${path}.`);
    try {
      return read(answer.text);
    } catch (error) {
      if (!(error instanceof RpcFault) || error.code !== shutdownState) throw error;
      throw new SupervisordAway("supervisord is stopping, or starting anew.");
    }
  };
}

function isClosed(error: unknown): boolean {
  const { code } = toError(error);
  return code === "ECONNRESET" || code === "EPIPE";
}

function awayReason(error: unknown, path: string, limitMs: number): string {
  const { name, code, message } = toError(error);
  if (name === "TimeoutError" || name === "AbortError")
    return `supervisord did not answer within ${limitMs / 1000} s on ${path}.`;
  switch (code) {
    case "ENOENT":
      return `supervisord is not running: its socket ${path} is not there. Start it on the server: systemctl start supervisor`;
    case "ECONNREFUSED":
      return `supervisord is not running: nothing listens on ${path}. Start it on the server: systemctl start supervisor`;
    case "EACCES":
    case "EPERM":
      return `No permission to use supervisord's socket ${path}. Give the account access with chmod and chown in the [unix_http_server] section of its configuration (“chmod=0770” and “chown=root:GROUP”), then: systemctl restart supervisor`;
    case "ECONNRESET":
    case "EPIPE":
      return `supervisord closed the connection to ${path} without an answer. Look at it on the server: systemctl status supervisor. Over SSH, its sshd has to allow AllowStreamLocalForwarding.`;
    default:
      return `Couldn't reach supervisord on ${path}: ${message}`;
  }
}

type Post = {
  socketPath: string;
  body: string;
  login: string | null;
  signal: AbortSignal;
  agent: Agent | false;
};

function post(call: Post): Promise<{ status: number; text: string }> {
  const { socketPath, body, login, signal, agent } = call;
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        socketPath,
        path: "/RPC2",
        method: "POST",
        agent,
        signal,
        headers: { "Content-Type": "text/xml", "Content-Length": Buffer.byteLength(body) },
        ...(login !== null && { auth: login }),
      },
      (answer) => {
        const pieces: Buffer[] = [];
        let length = 0;
        answer.on("data", (piece: Buffer) => {
          length += piece.length;
          if (length > maxAnswerBytes) sent.destroy(new Error("its answer was too long"));
          pieces.push(piece);
        });
        answer.once("error", reject);
        answer.once("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            text: Buffer.concat(pieces).toString("utf8"),
          }),
        );
      },
    );
    sent.once("error", (error) => {
      // A reused connection may just have been closed, so the call is repeated on another one.
      if (sent.reusedSocket && isClosed(error)) resolve(post(call));
      // Also rejects when the signal aborts the request.
      else reject(error);
    });
    sent.end(body);
  });
}
