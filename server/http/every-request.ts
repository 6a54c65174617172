// Middleware for every request: an id, security headers, and the check of the host.
import type { HttpBindings } from "@hono/node-server";
import type { MiddlewareHandler } from "hono";
import type { RequestIdVariables } from "hono/request-id";
import { errorMessage, errorStatus } from "../../contract/errors.ts";
import type { Clock } from "../clock.ts";
import type { IsAllowedHost } from "./allowed-hosts.ts";

/** What is known of a request beside what it says: its id, and the socket that it came through. */
export type ApiEnvironment = {
  Bindings: Partial<HttpBindings>;
  Variables: RequestIdVariables & {
    /** The proof by which this client may continue the download of a one-time link. */
    linkProof?: string;
    /** Whether another instance forwarded the request. */
    isForwarded?: boolean;
  };
};

/**
 * Headers of every response. `nosniff` keeps a browser from running a response as a script or page because it looks like one.
 */
export const responseHeaders = { "X-Content-Type-Options": "nosniff" } as const;

/** @param clock the time of `Date`, the same as that of the moments in responses; by default the machine's */
export const everyRequest =
  (isAllowedHost: IsAllowedHost, clock?: Pick<Clock, "now">): MiddlewareHandler<ApiEnvironment> =>
  async (c, next) => {
    const hosts = hostHeaders(c.env);
    const { host } = new URL(c.req.url);
    const header = c.req.header("Host");
    if (hosts !== null && hosts.count !== 1 && !(hosts.count === 0 && hosts.isOptional))
      c.res = c.json({ message: errorMessage.malformed_request }, errorStatus.malformed_request);
    // A request line with a whole URL overrides the `Host` header, so both must name this service.
    else {
      const unknown = [header ?? host, host].find((one) => !isAllowedHost(one));
      if (unknown === undefined) await next();
      else c.res = c.json({ message: unknownHost(unknown) }, errorStatus.unknown_host);
    }
    for (const [name, value] of Object.entries(responseHeaders)) c.res.headers.set(name, value);
    if (clock !== undefined) c.res.headers.set("Date", new Date(clock.now()).toUTCString());
  };

/** @returns null for a request that came through no socket, as in tests */
function hostHeaders(environment: ApiEnvironment["Bindings"] | undefined) {
  const incoming = environment?.incoming;
  if (incoming?.rawHeaders === undefined) return null;
  const names = incoming.rawHeaders.filter((_, place) => place % 2 === 0);
  return {
    count: names.filter((name) => name.toLowerCase() === "host").length,
    // HTTP/1.0 had no `Host`, and some health checks still send none.
    isOptional: incoming.httpVersionMajor === 1 && incoming.httpVersionMinor === 0,
  };
}

const shownCharacters = 100;

function unknownHost(host: string): string {
  const shown = host.slice(0, shownCharacters);
  return `Unknown host “${shown}”. To use this name, set QUARTERDECK_PUBLIC_URL to the public address, or HOST to the name.`;
}
