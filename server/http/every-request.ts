// What holds for every request and every response, whatever part of the service gives it.
import type { HttpBindings } from "@hono/node-server";
import type { MiddlewareHandler } from "hono";
import type { RequestIdVariables } from "hono/request-id";
import { errorMessage, errorStatus } from "../../contract/errors.ts";
import type { Clock } from "../clock.ts";
import type { IsAllowedHost } from "./allowed-hosts.ts";

/** What a request brings along: the socket it came through, and its id. */
export type ApiEnvironment = { Bindings: Partial<HttpBindings>; Variables: RequestIdVariables };

/** Of every response. A browser takes it for what its type says, and never for a script or a page that it looks like. */
export const responseHeaders = { "X-Content-Type-Options": "nosniff" } as const;

/** @param clock whose time responses carry: that of the moments in them; left out = the machine's */
export const everyRequest =
  (isAllowedHost: IsAllowedHost, clock?: Pick<Clock, "now">): MiddlewareHandler<ApiEnvironment> =>
  async (c, next) => {
    const hosts = hostHeaders(c.env);
    const { host } = new URL(c.req.url);
    const header = c.req.header("Host");
    if (hosts !== null && hosts.count !== 1 && !(hosts.count === 0 && hosts.isOptional))
      c.res = c.json({ message: errorMessage.malformed_request }, errorStatus.malformed_request);
    // A target that is a whole URL goes before the header, and everything here goes by it; both have to be our own.
    else {
      const unknown = [header ?? host, host].find((one) => !isAllowedHost(one));
      if (unknown === undefined) await next();
      else c.res = c.json({ message: unknownHost(unknown) }, errorStatus.unknown_host);
    }
    for (const [name, value] of Object.entries(responseHeaders)) c.res.headers.set(name, value);
    if (clock !== undefined) c.res.headers.set("Date", new Date(clock.now()).toUTCString());
  };

/** Null for a request that came through no socket. */
function hostHeaders(environment: ApiEnvironment["Bindings"] | undefined) {
  const incoming = environment?.incoming;
  if (incoming?.rawHeaders === undefined) return null;
  const names = incoming.rawHeaders.filter((_, place) => place % 2 === 0);
  return {
    count: names.filter((name) => name.toLowerCase() === "host").length,
    // Until HTTP/1.1 there was none, and some programs that only ask for health still send none.
    isOptional: incoming.httpVersionMajor === 1 && incoming.httpVersionMinor === 0,
  };
}

const shownCharacters = 100;

function unknownHost(host: string): string {
  const shown = host.slice(0, shownCharacters);
  return `Unknown host “${shown}”. To use this name, set QUARTERDECK_PUBLIC_URL to the public address, or HOST to the name.`;
}
