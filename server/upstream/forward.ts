// Forwards a request to the upstream and its response to the client. Bodies are streamed in both directions.
import { randomBytes } from "node:crypto";
import { proxy } from "hono/proxy";
import { errorMessage } from "../../contract/errors.ts";
import type { ApiEnvironment } from "../http/every-request.ts";
import { addressOf } from "../http/client-address.ts";
import { allowLongSending } from "../http/sending-limit.ts";
import { isFile } from "../http/upload.ts";
import { SendError, diagnoseSendError } from "../net/send-error.ts";
import { fetchWithoutTimeLimit } from "./no-time-limit.ts";
import { isPassedHeader, isPassedPath } from "./passed.ts";

type ErrorStatus = 404 | 502 | 504 | 508;

/** The upstream gave no response that can be forwarded; the message is for the operator. */
export class UpstreamError extends Error {
  override name = "UpstreamError";
  readonly status: ErrorStatus;

  constructor(status: ErrorStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

const dashboardsOwn = "The service behind this dashboard";

/** Response headers that would apply to this host instead of the upstream's. */
const notPassedBack = ["set-cookie", "strict-transport-security", "alt-svc", "clear-site-data"];

/**
 * A response of the upstream, e.g. an error page that echoes the URL, must not run as a page of this origin, which stores the
 * token.
 */
const fence = "default-src 'none'; sandbox; frame-ancestors 'none'";

/** Maps error codes of `fetch` to the system's codes. */
const systemCodes: Record<string, string> = {
  UND_ERR_SOCKET: "ECONNRESET",
  UND_ERR_CONNECT_TIMEOUT: "ETIMEDOUT",
};

function diagnose(error: unknown, name: string): unknown {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) return error;
  const code = "code" in cause ? String(cause.code) : "";
  const known = Object.assign(new Error(cause.message), { code: systemCodes[code] ?? code });
  const diagnosed = diagnoseSendError(known, name);
  return diagnosed instanceof SendError
    ? new UpstreamError(502, diagnosed.message, { cause })
    : error;
}

/** Whether the request has a body. `fetch` would send even an empty one, which some services reject, e.g. for GET. */
const hasBody = ({ headers, body }: Request): boolean =>
  body !== null &&
  (headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > 0);

const tooLate = (name: string, method: string, firstByteMs: number) =>
  new UpstreamError(
    504,
    `${name} timed out after ${firstByteMs / 1000} s.${method === "GET" ? "" : " The request may still complete."}`,
  );

/** Removes hop-by-hop headers: those that `Connection` names, and those that HTTP defines as such. */
function dropConnectionHeaders(headers: Headers): void {
  for (const named of headers.get("connection")?.split(",") ?? [])
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(named.trim())) headers.delete(named.trim());
}

const append = (list: string | null, entry: string) =>
  list === null ? entry : `${list}, ${entry}`;

/**
 * @param upstream base address, without a slash at the end
 * @param publicUrl URL of the dashboard; null = taken from each request
 * @param name of the upstream in errors
 */
export function createForwarder(
  upstream: string,
  publicUrl: string | null,
  { name = dashboardsOwn }: { name?: string } = {},
) {
  // Detects a service that is its own upstream, which would forward in a loop until its sockets are used up.
  const own = `quarterdeck-${randomBytes(6).toString("hex")}`;

  function targetOf(url: URL): URL {
    if (!isPassedPath(url.pathname)) throw new UpstreamError(404, errorMessage.not_found);
    return new URL(`${upstream}${url.pathname}${url.search}`);
  }

  function headersOf(request: Request, url: URL, address: string): Headers {
    const headers = new Headers(request.headers);
    dropConnectionHeaders(headers);
    const via = headers.get("via");
    if (via?.includes(own) === true)
      throw new UpstreamError(508, "QUARTERDECK_UPSTREAM leads back to this service itself.");
    headers.set("via", append(via, `1.1 ${own}`));
    for (const header of Array.from(headers.keys()))
      if (!isPassedHeader(header)) headers.delete(header);
    // Behind a proxy that terminates TLS the request's own URL is not the public one, so the configured one is preferred.
    const { host, protocol } = publicUrl === null ? url : new URL(publicUrl);
    headers.set("x-forwarded-for", address);
    headers.set("x-forwarded-host", host);
    headers.set("x-forwarded-proto", protocol.slice(0, -1));
    return headers;
  }

  /**
   * @param firstByteMs how long the upstream may take to begin its response; the rest has no time limit
   * @param ownHeaders additional request headers
   * @throws UpstreamError
   */
  return async function forward(
    request: Request,
    environment: ApiEnvironment["Bindings"] | undefined,
    firstByteMs: number,
    ownHeaders: Record<string, string> = {},
  ): Promise<Response> {
    const url = new URL(request.url);
    const target = targetOf(url);
    const headers = headersOf(request, url, addressOf(environment));
    for (const [header, value] of Object.entries(ownHeaders)) headers.set(header, value);
    // An upload is answered only at its end, so it has no such deadline.
    const isLong = isFile(request);
    if (isLong) allowLongSending(environment?.incoming);
    const deadline = isLong ? new AbortController().signal : AbortSignal.timeout(firstByteMs);
    // Needed only until the response begins: after that a client's disconnect cancels the stream, which cancels the request.
    const waiting = new AbortController();
    const stopWaiting = () => waiting.abort();
    for (const signal of [request.signal, deadline]) signal.addEventListener("abort", stopWaiting);
    const passed = new Request(target, {
      method: request.method,
      headers,
      ...(hasBody(request) && { body: request.body, duplex: "half" }),
      // Redirects are forwarded, because the browser may reach addresses that this service cannot.
      redirect: "manual",
    });
    try {
      const response = await proxy(target, {
        raw: passed,
        redirect: "manual",
        signal: waiting.signal,
        customFetch: fetchWithoutTimeLimit,
      });
      for (const unwanted of notPassedBack) response.headers.delete(unwanted);
      response.headers.set("Content-Security-Policy", fence);
      return response;
    } catch (error) {
      if (deadline.aborted) throw tooLate(name, request.method, firstByteMs);
      throw diagnose(error, name);
    } finally {
      for (const signal of [request.signal, deadline])
        signal.removeEventListener("abort", stopWaiting);
    }
  };
}
