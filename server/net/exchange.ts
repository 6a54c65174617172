// Sends one request and reads its response, with a deadline and a limited size.
import type { ClientRequest, IncomingMessage } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { diagnoseSendError, SendError } from "./send-error.ts";
import { toError } from "../to-error.ts";

/** Limit of the body: a longer one is not read, and its connection is closed. */
const readBytes = 64 * 1024;
const keptHeaderCharacters = 8 * 1024;

export type Exchanged = {
  status: number;
  /** Names in lower case; 8 KiB in all at most. */
  headers: Record<string, string>;
  body: string;
  /** Whether the body was longer than `body`. */
  isBodyCut: boolean;
  /** IP address of the receiver. */
  address: string;
};

type Limits = {
  /** As in the URL, for error messages. */
  host: string;
  timeoutMs: number;
  keepBytes: number;
  signal: AbortSignal | undefined;
};

/**
 * @param open sends the request; called again when a kept-alive connection turns out to be stale
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
 * Whether a kept-alive connection was closed just when it was reused, or still had data of the previous response, such as the
 * body of a 204. That says nothing about the receiver.
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
      // Data after a complete response, such as the body of a 204, is ignored: the `end` event follows.
      if (answer.complete) return;
      // A receiver that has begun to respond has received the request.
      if (toError(error).code === "ECONNRESET") return breakOff();
      reject(diagnoseSendError(error, host));
    });
    outgoing.on("close", () => {
      // For example after an unexpected “101 Switching Protocols”, for which Node reports no error.
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

/** Decodes UTF-8, replacing invalid bytes. For a cut text, StringDecoder leaves out an incomplete last character. */
const textOf = (bytes: Buffer, isCut: boolean): string =>
  isCut ? new StringDecoder("utf8").write(bytes) : bytes.toString("utf8");
