// Measures how long requests take, by route pattern: an id or an unknown path never becomes a label.
import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import { Histogram, type Registry } from "prom-client";
import type { ApiEnvironment } from "../http/every-request.ts";

const methods = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);
const ownPaths = new Set(["/metrics", "/healthz", "/readyz", "/openapi.json"]);

/** @returns one of a closed list of labels: a row of the operation table, an address of the service itself, or the dashboard */
function labelOf(pattern: string): string {
  if (pattern.startsWith("/api/")) return pattern.replace(/:(\w+)/g, "{$1}");
  return ownPaths.has(pattern) ? pattern : "dashboard";
}

/** Measures until the response begins; a download may continue for hours after that. */
export function measureRequests(registry: Registry): MiddlewareHandler<ApiEnvironment> {
  const duration = new Histogram({
    name: "quarterdeck_http_request_duration_seconds",
    help: "Time from a request to the beginning of its answer.",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return async (c, next) => {
    const startedMs = performance.now();
    await next();
    const { method } = c.req;
    duration.observe(
      {
        method: methods.has(method) ? method : "other",
        route: labelOf(routePath(c)),
        status: `${Math.floor(c.res.status / 100)}xx`,
      },
      (performance.now() - startedMs) / 1000,
    );
  };
}
