// Composes the HTTP app, in the order in which a request passes its parts. Health checks come first and need no token.
import { setTimeout as wait } from "node:timers/promises";
import { Hono, type MiddlewareHandler } from "hono";
import { compress } from "hono/compress";
import { cors } from "hono/cors";
import { requestId } from "hono/request-id";
import type { Logger } from "pino";
import { errorMessage } from "../../contract/errors.ts";
import { servedOperations } from "../../contract/served-operations.ts";
import type { Clock } from "../clock.ts";
import { describeDatabaseError } from "../store/database-error.ts";
import type { IsAllowedHost } from "./allowed-hosts.ts";
import type { ApiEnvironment } from "./every-request.ts";
import { describeOperations } from "./openapi.ts";
import { readyMs } from "./ready-limit.ts";
import { everyRequest } from "./every-request.ts";
import { handleError } from "./error-handler.ts";

type HttpAppOptions = {
  measure: MiddlewareHandler;
  isAllowedHost: IsAllowedHost;
  clock: Clock;
  /** Why the service refuses requests now; null = it does not. */
  unavailableReason: () => string | null;
  /** @throws the database's error */
  ping: () => Promise<unknown>;
  parts: readonly Hono<ApiEnvironment>[];
  version: string;
  publicUrl: string | null;
  log: Logger;
};

const describe = (error: unknown) =>
  describeDatabaseError(error) ?? "The database is not responding.";

export function createHttpApp(options: HttpAppOptions): Hono<ApiEnvironment> {
  const { unavailableReason, ping, log } = options;
  const app = new Hono<ApiEnvironment>();
  app.onError((error, c) => handleError(error, c, log));
  app.notFound((c) => c.json({ message: errorMessage.not_found }, 404));
  app.use(options.measure);
  app.use(requestId());
  app.use(everyRequest(options.isAllowedHost, options.clock));
  // Compresses responses to GET only: the response to a change may hold a secret, and a compressed size can reveal parts of it.
  const compressed = compress({ encoding: "gzip", contentTypeFilter: /^application\/json\b/ });
  app.get("/api/*", compressed).get("/openapi.json", compressed);
  // Any origin may call the API: a browser never adds the token by itself, so another site gains nothing by this.
  app.use(
    "/api/*",
    cors({
      origin: "*",
      allowMethods: ["GET", "HEAD", "POST", "PUT", "DELETE"],
      allowHeaders: ["Authorization", "Content-Type", "If-None-Match"],
      exposeHeaders: [
        "Date",
        "ETag",
        "Location",
        "Retry-After",
        "WWW-Authenticate",
        "X-Request-Id",
      ],
      maxAge: 600,
    }),
  );
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", async (c) => {
    const reason =
      unavailableReason() ??
      (await Promise.race([
        ping().then(() => null, describe),
        wait(readyMs, `The database has not responded for ${readyMs / 1000} seconds.`, {
          ref: false,
        }),
      ]));
    return reason === null
      ? c.json({ status: "ok" })
      : c.json({ status: "unavailable", message: reason }, 503, { "Retry-After": "5" });
  });
  app.get("/openapi.json", (c) =>
    c.json(
      describeOperations(Object.entries(servedOperations), {
        version: options.version,
        url: options.publicUrl ?? new URL(c.req.url).origin,
      }),
    ),
  );
  for (const part of options.parts) app.route("/", part);
  return app;
}
