// Sends requests to URLs that users entered: webhook receivers, chat webhooks. Requests only reach the internet and what the
// operator allows, and are limited in time and size.
import { type ClientRequest, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { setTimeout as wait } from "node:timers/promises";
import type { AddressGuard } from "./address-guard.ts";
import { createAgents, createTargets, hostnameOf, type Lookup, systemLookup } from "./target.ts";
import { exchange, type Exchanged } from "./exchange.ts";
import { SendError, diagnoseSendError } from "./send-error.ts";

/** Short, because a user waits for the check of a URL. */
const judgingMs = 5000;

export type SendRequest = {
  url: string;
  method: "POST";
  headers: Record<string, string>;
  body: string | Uint8Array;
  /** `send` throws its reason. */
  signal?: AbortSignal;
  /** Limit for everything from the DNS lookup to the last byte of the response; default 15,000. */
  timeoutMs?: number;
  /** How much of the response's body is kept; default 4096 bytes. */
  keepBytes?: number;
};

type SendResponse = Exchanged & { durationMs: number };

export type Sender = {
  /** Returns why a URL cannot be used now, for the user who enters it; null = it can. */
  refusalOf(url: string): Promise<string | null>;
  /**
   * Any status is a response, including redirects, which are not followed.
   * A request may be sent twice, when a kept-alive connection turns out to be stale.
   * @throws SendError
   */
  send(request: SendRequest): Promise<SendResponse>;
  /** Closes all connections; requests in flight fail. */
  close(): void;
};

export function createSender(options: { guard: AddressGuard; lookup?: Lookup }): Sender {
  const { guard, lookup = systemLookup } = options;
  const targets = createTargets({ guard, lookup });
  const agents = createAgents(targets);
  let isClosed = false;

  function open(url: URL, { method, headers, body }: SendRequest): ClientRequest {
    // Destroyed agents would open new connections.
    if (isClosed) throw new SendError("broken", "The service is stopping.");
    const isHttps = url.protocol === "https:";
    const outgoing = (isHttps ? requestHttps : requestHttp)(url, {
      method,
      headers: {
        ...headers,
        // Last, so that they take precedence: the rest of a body with a wrong length would be read as another request.
        "accept-encoding": "identity",
        "content-length": Buffer.byteLength(body),
      },
      agent: isHttps ? agents.https : agents.http,
      // RFC 6066, section 3: the server name in TLS has no trailing dot, and some servers reject one.
      ...(url.hostname.endsWith(".") && { servername: url.hostname.slice(0, -1) }),
      maxHeaderSize: 16 * 1024,
    });
    outgoing.end(body);
    return outgoing;
  }

  return {
    async refusalOf(text) {
      let host = "";
      try {
        const url = targets.parse(text);
        host = url.host;
        const isKnown = targets.addressesOf(hostnameOf(url)).then(() => true);
        // Handles the rejection of a lookup that lost the race.
        isKnown.catch(() => undefined);
        const isLate = wait(judgingMs, false, { ref: false });
        if (await Promise.race([isKnown, isLate])) return null;
        return `${host} could not be resolved: the name server is not responding.`;
      } catch (error) {
        const diagnosed = diagnoseSendError(error, host);
        if (diagnosed instanceof SendError) return diagnosed.message;
        throw diagnosed;
      }
    },

    async send(request) {
      const { signal, timeoutMs = 15_000, keepBytes = 4096 } = request;
      signal?.throwIfAborted();
      const startedMs = performance.now();
      const tookMs = () => Math.round(performance.now() - startedMs);
      let host = "";
      try {
        const url = targets.parse(request.url);
        host = url.host;
        const limits = { host, timeoutMs, keepBytes, signal };
        const response = await exchange(() => open(url, request), limits);
        return { ...response, durationMs: tookMs() };
      } catch (error) {
        signal?.throwIfAborted();
        const diagnosed = diagnoseSendError(error, host);
        if (diagnosed instanceof SendError) diagnosed.durationMs = tookMs();
        throw diagnosed;
      }
    },

    close() {
      isClosed = true;
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}
