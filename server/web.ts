// Wires what the service serves over HTTP: the API, metrics, and the dashboard.
import type { Hono } from "hono";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock } from "./clock.ts";
import type { IsAllowedHost } from "./http/allowed-hosts.ts";
import { createApi } from "./http/api.ts";
import { createHttpApp } from "./http/app.ts";
import { createAuthenticator } from "./http/authentication.ts";
import type { ApiEnvironment } from "./http/every-request.ts";
import { ownLimiters, sharedLimiters } from "./http/limiter.ts";
import type { Route } from "./http/route.ts";
import type { Peers } from "./instances/peers.ts";
import { createMetrics, type MetricsOptions } from "./metrics/metrics.ts";
import type { MetricsPart } from "./metrics/part.ts";
import { measureRequests } from "./metrics/requests.ts";
import { createMetricsRoute } from "./metrics/routes.ts";
import type { Database } from "./store/database.ts";
import type { Tokens } from "./tokens/tokens.ts";

type WebOptions = {
  db: Database;
  pool: MetricsOptions["pool"];
  /** @throws errors of the database */
  ping(): Promise<unknown>;
  tokens: Pick<Tokens, "findCaller" | "redeemCode">;
  peers: Peers;
  /** Whether other instances count requests of the same callers. */
  isShared: boolean;
  rateLimit: number;
  isAllowedHost: IsAllowedHost;
  clock: Clock;
  publicUrl: string | null;
  dashboard: Hono<ApiEnvironment>;
  routes: readonly Route[];
  registry: Registry;
  metrics: readonly MetricsPart[];
  /** Returns why requests are refused now; null = they are not. */
  unavailableReason(): string | null;
  invalidResponse: "fail" | "log";
  version: string;
  log: Logger;
};

export function createWeb(options: WebOptions): Hono<ApiEnvironment> {
  const { db, tokens, peers, registry, unavailableReason } = options;
  const authenticator = createAuthenticator({
    findCaller: tokens.findCaller,
    redeemCode: tokens.redeemCode,
    peers,
    unavailableReason,
    clock: options.clock,
    requestsPerMinute: options.rateLimit,
    limiters: options.isShared ? sharedLimiters(db) : ownLimiters,
    log: options.log,
  });
  const metrics = createMetrics({ ...options, parts: options.metrics });
  return createHttpApp({
    ...options,
    measure: measureRequests(registry),
    parts: [
      createMetricsRoute(metrics, authenticator),
      createApi({ ...options, authenticator }),
      options.dashboard,
    ],
  });
}
