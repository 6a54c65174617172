// Sends one request and reads its response, within a deadline and with bounded memory.
import type { ClientRequest, IncomingMessage } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { diagnoseSendError, SendError } from "./send-error.ts";
import { toError } from "../to-error.ts";

/** The connection of a longer body is closed instead of reading it. */
const readBytes = 64 * 1024;
const keptHeaderCharacters = 8 * 1024;

export type Exchanged = {
  status: number;
  /** Names in lower case; 8 KiB in total. */
  headers: Record<string, string>;
  body: string;
  /** Whether the response had more than `body`. */
  isBodyCut: boolean;
  /** IP address of the receiver. */
  address: string;
};

type Limits = {
  /** Host as in the URL, for messages. */
  host: string;
  timeoutMs: number;
  keepBytes: number;
  signal: AbortSignal | undefined;
};

/**
 * @param open sends the request; called once more when a kept connection turns out to be of no use
 * @throws SendError, an error of the network, or the signal's reason
 */
export async function exchange(open: () => ClientRequest, limits: Limits): Promise<Exchanged> {
  const { host, timeoutMs, keepBytes, signal } = limits;
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>();
  let outgoing: ClientRequest | undefined;
  let isOver = false;
  const giveUp = (error: unknown) => {
    isOver = true;
    reject(error);
    outgoing?.destroy();
  };
  const attempt = async (isRepeatable: boolean): Promise<Exchanged> => {
    const request = open();
    outgoing = request;
    try {
      return await receive(request, { host, keepBytes });
    } catch (error) {
      if (isRepeatable && !isOver && isStale(request, error)) return attempt(false);
      throw error;
    }
  };
  const onAbort = () => giveUp(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => {
    const words = `${host} did not respond completely within ${timeoutMs / 1000} s.`;
    giveUp(new SendError("timeout", words));
  }, timeoutMs);
  try {
    attempt(true).then(resolve, reject);
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/**
 * A kept connection was closed just when it was used again, or something of the response before was still to come on it, such as
 * the body of a 204. That says nothing of the receiver.
 */
const isStale = ({ reusedSocket }: ClientRequest, error: unknown): boolean =>
  reusedSocket && /^(?:ECONNRESET|EPIPE|HPE_.*)$/.test(String(toError(error).code));

function receive(
  outgoing: ClientRequest,
  { host, keepBytes }: Pick<Limits, "host" | "keepBytes">,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | null = null;
    const breakOff = () =>
      reject(new SendError("broken", `${host} closed the connection during the response.`));
    outgoing.on("error", (error) => {
      if (answer === null) return reject(error);
      // Data after a complete response, such as a body of a 204, changes nothing; its “end” follows.
      if (answer.complete) return;
      // A receiver that has begun to respond has received the request.
      if (toError(error).code === "ECONNRESET") return breakOff();
      reject(diagnoseSendError(error, host));
    });
    outgoing.on("close", () => {
      // E.g. after a “101 Switching Protocols”, which nobody asked for: Node reports no error then.
      if (answer === null)
        reject(new SendError("broken", `${host} closed the connection without a response.`));
    });
    outgoing.on("response", (response) => {
      answer = response;
      const address = response.socket.remoteAddress ?? "";
      const kept: Buffer[] = [];
      let bytes = 0;
      const finish = () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: headersOf(response),
          body: textOf(Buffer.concat(kept), bytes > keepBytes),
          isBodyCut: bytes > keepBytes,
          address,
        });
      response.on("data", (chunk: Buffer) => {
        if (bytes < keepBytes) kept.push(chunk.subarray(0, keepBytes - bytes));
        bytes += chunk.length;
        if (bytes <= Math.max(readBytes, keepBytes)) return;
        finish();
        response.destroy();
      });
      response.on("end", finish);
      response.on("error", breakOff);
      response.on("close", breakOff);
    });
  });
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const kept: [string, string][] = [];
  let left = keptHeaderCharacters;
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value.join(", ") : (value ?? "");
    if (name.length + text.length > left) continue;
    left -= name.length + text.length;
    kept.push([name, text]);
  }
  return Object.fromEntries(kept);
}

/** What is no UTF-8 is replaced. The decoder keeps a character back of which only the first bytes are there. */
const textOf = (bytes: Buffer, isCut: boolean): string =>
  isCut ? new StringDecoder("utf8").write(bytes) : bytes.toString("utf8");
