// The service without a service of its own: it serves the dashboard, and passes what the dashboard asks on to another
// service that speaks the interface. To a browser both are one origin, so the other one needs no CORS.
import { Hono, type Context } from "hono";
import type { Logger } from "pino";
import { errorMessage } from "../../contract/errors.ts";
import type { IsAllowedHost } from "../http/allowed-hosts.ts";
import type { ApiEnvironment } from "../http/every-request.ts";
import { createDashboard } from "../http/dashboard.ts";
import { everyRequest } from "../http/every-request.ts";
import { readyMs } from "../http/ready-limit.ts";
import { createForwarder, UpstreamError } from "./forward.ts";
import { isPassedMethod, passedMethods } from "./passed.ts";

export type UpstreamOptions = {
  /** Base address of the other service, without a slash at the end; a path in it is kept. */
  upstream: string;
  /** URL of the dashboard, without a slash at the end; null = taken from each request. */
  publicUrl: string | null;
  isAllowedHost: IsAllowedHost;
  /** The built dashboard; null = none. */
  dashboardFolder: string | null;
  version: string;
  log: Logger;
  /** How long the other service may take to begin a response; 30,000 if not given. */
  firstByteMs?: number;
};

const retrySeconds = "5";

export function createUpstreamApp({
  upstream,
  publicUrl,
  isAllowedHost,
  dashboardFolder,
  version,
  log,
  firstByteMs = 30_000,
}: UpstreamOptions): Pick<Hono<ApiEnvironment>, "fetch"> {
  const forward = createForwarder(upstream, publicUrl);

  const handleError = (error: unknown, c: Context<ApiEnvironment>) => {
    // The client has disconnected before the response, which is not logged.
    if (c.req.raw.signal.aborted) return c.body(null, 502);
    if (!(error instanceof UpstreamError)) {
      log.error({ err: error, method: c.req.method, path: c.req.path }, "a request failed");
      return c.json({ message: errorMessage.server_error }, 500);
    }
    const { message, status, cause } = error;
    if (status >= 500)
      log.warn({ upstream, method: c.req.method, path: c.req.path, err: cause }, message);
    return c.json({ message }, status, status >= 500 ? { "Retry-After": retrySeconds } : {});
  };

  const app = new Hono<ApiEnvironment>();
  app.onError(handleError);
  app.use(everyRequest(isAllowedHost));
  app.notFound((c) => c.json({ message: errorMessage.not_found }, 404));
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", async (c) => {
    // Not every service has a `/readyz`; a 404 also shows that the upstream responds.
    const asked = new Request(new URL("/readyz", c.req.url), {
      headers: { accept: "application/json", "user-agent": `Quarterdeck/${version}` },
      signal: c.req.raw.signal,
    });
    const reason = await forward(asked, c.env, readyMs).then(
      async (response) => {
        await response.body?.cancel();
        return response.status < 500
          ? null
          : `The service behind this dashboard answers ${response.status}.`;
      },
      (error: unknown) => {
        if (error instanceof UpstreamError) return error.message;
        throw error;
      },
    );
    return reason === null
      ? c.json({ status: "ok" })
      : c.json({ status: "unavailable", message: reason }, 503, { "Retry-After": retrySeconds });
  });
  app.all("/api/*", async (c, next) => {
    if (isPassedMethod(c.req.method)) return next();
    const message = `The ${c.req.method} method is not supported here.`;
    return c.json({ message }, 405, { Allow: passedMethods.join(", ") });
  });
  const pass = (c: Context<ApiEnvironment>) => forward(c.req.raw, c.env, firstByteMs);
  app.all("/api/*", pass);
  app.get("/openapi.json", pass);
  // A proxy has no metrics; the upstream has its own.
  app.get("/metrics", (c) => c.notFound());
  app.route("/", createDashboard(dashboardFolder));
  return { fetch: app.fetch };
}
