// The metrics over HTTP. They cover every worker and site, so they require a token that may see all servers.
import { Hono } from "hono";
import type { Authenticator } from "../http/authentication.ts";
import type { ApiEnvironment } from "../http/every-request.ts";
import { unauthorized } from "../http/service-error.ts";
import type { Metrics } from "./metrics.ts";

export function createMetricsRoute(
  metrics: Metrics,
  authenticator: Authenticator,
): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();
  app.get("/metrics", async (c) => {
    const caller = await authenticator.byToken(c);
    if (caller.serverIds !== null) throw unauthorized();
    c.header("Content-Type", metrics.contentType);
    c.header("Cache-Control", "no-store");
    return c.body(await metrics.text());
  });
  return app;
}
