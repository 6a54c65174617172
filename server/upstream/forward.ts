// One request on its way to the other service, and its response on the way back. Bodies are streamed, both ways.
import { randomBytes } from "node:crypto";
import { proxy } from "hono/proxy";
import { errorMessage } from "../../contract/errors.ts";
import type { ApiEnvironment } from "../http/every-request.ts";
import { addressOf } from "../http/client-address.ts";
import { allowLongSending } from "../http/sending-limit.ts";
import { isFile } from "../http/upload.ts";
import { SendError, diagnoseSendError } from "../net/send-error.ts";
import { isPassedHeader, isPassedPath } from "./passed.ts";

type ErrorStatus = 404 | 502 | 504 | 508;

/** Why there is no response to pass on; its message is for the operator. */
export class UpstreamError extends Error {
  override name = "UpstreamError";
  readonly status: ErrorStatus;

  constructor(status: ErrorStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

const dashboardsOwn = "The service behind this dashboard";

/** These would speak for this host, of which the other service knows nothing. */
const notPassedBack = ["set-cookie", "strict-transport-security", "alt-svc", "clear-site-data"];

/**
 * What the other service answers, e.g. an error page that repeats an address, must not become a page of this origin,
 * where the token lies.
 */
const fence = "default-src 'none'; sandbox; frame-ancestors 'none'";

/** `fetch` has words of its own for what else has a code of the system. */
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

/** `fetch` sends a body that it is given, even an empty one, and not every service takes one where none belongs. */
const hasBody = ({ headers, body }: Request): boolean =>
  body !== null &&
  (headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > 0);

const tooLate = (name: string, method: string, firstByteMs: number) =>
  new UpstreamError(
    504,
    `${name} timed out after ${firstByteMs / 1000} s.${method === "GET" ? "" : " The request may still complete."}`,
  );

/** What a client calls its connection's own ends here, with what HTTP calls so anyway. */
function dropConnectionHeaders(headers: Headers): void {
  for (const named of headers.get("connection")?.split(",") ?? [])
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(named.trim())) headers.delete(named.trim());
}

const append = (list: string | null, entry: string) =>
  list === null ? entry : `${list}, ${entry}`;

/**
 * @param upstream base address, without a slash at the end
 * @param publicUrl where people open the dashboard; null = as each request says
 * @param name what the other service is called in errors
 */
export function createForwarder(
  upstream: string,
  publicUrl: string | null,
  { name = dashboardsOwn }: { name?: string } = {},
) {
  // One that is its own upstream would go round until its sockets are used up.
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
    // Whoever ends TLS before us knows better where people are, and the operator has told us.
    const { host, protocol } = publicUrl === null ? url : new URL(publicUrl);
    headers.set("x-forwarded-for", address);
    headers.set("x-forwarded-host", host);
    headers.set("x-forwarded-proto", protocol.slice(0, -1));
    return headers;
  }

  /**
   * @param firstByteMs how long the other service may take to begin its response; the rest of it may take any time
   * @param ownHeaders those that it gets besides
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
    // What answers an upload does so at its end.
    const isLong = isFile(request);
    if (isLong) allowLongSending(environment?.incoming);
    const deadline = isLong ? new AbortController().signal : AbortSignal.timeout(firstByteMs);
    // Only until the response begins: from then on a client that goes away ends the stream, and the stream the request.
    const waiting = new AbortController();
    const stopWaiting = () => waiting.abort();
    for (const signal of [request.signal, deadline]) signal.addEventListener("abort", stopWaiting);
    const passed = new Request(target, {
      method: request.method,
      headers,
      ...(hasBody(request) && { body: request.body, duplex: "half" }),
      // Passed on as it is: it may lead to where a browser can go and we cannot.
      redirect: "manual",
    });
    try {
      const response = await proxy(target, {
        raw: passed,
        redirect: "manual",
        signal: waiting.signal,
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
