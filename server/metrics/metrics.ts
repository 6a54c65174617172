// Gathers the metrics of all parts, as text that Prometheus reads.
import { setImmediate as turnOfEventLoop } from "node:timers/promises";
import type { Logger } from "pino";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { Database, OpenDatabase } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { formatGauge } from "./format.ts";
import type { Metric, MetricsPart } from "./part.ts";
import { poolMetrics } from "./pool.ts";

export type MetricsOptions = {
  db: Database;
  /** The database's connections. */
  pool: OpenDatabase["pool"];
  /** Metrics that the process counts in memory. */
  registry: Registry;
  parts: readonly MetricsPart[];
  version: string;
  log: Logger;
};

/** Per part: Prometheus times out after ten seconds, and the parts that were read in time are still exported. */
const deadlineMs = 1_500;

export type Metrics = { contentType: string; text(): Promise<string> };

export function createMetrics(options: MetricsOptions): Metrics {
  const { db, pool, registry, parts, version, log } = options;

  const read = ({ read }: MetricsPart) =>
    db.transaction(
      async (tx) => {
        await tx.execute(sql.raw(`set local statement_timeout = ${deadlineMs}`));
        return read(tx);
      },
      { accessMode: "read only" },
    );

  /** Reads one part after the other, so that a scrape takes at most one of the connections that requests need. */
  async function readAll(): Promise<Metric[]> {
    const metrics: Metric[] = [
      {
        name: "quarterdeck_build_info",
        help: "Always 1; which version runs.",
        values: [{ labels: { version }, value: 1 }],
      },
      ...poolMetrics(pool),
    ];
    const up: { labels: { part: string }; value: number }[] = [];
    for (const part of parts)
      try {
        metrics.push(...(await withinTime(read(part))));
        up.push({ labels: { part: part.name }, value: 1 });
      } catch (error) {
        log.warn({ err: error, part: part.name }, "a part of the metrics could not be read");
        up.push({ labels: { part: part.name }, value: 0 });
      }
    return [
      ...metrics,
      {
        name: "quarterdeck_metrics_part_up",
        help: "Whether the figures of this part could be read; 0 = they are missing below.",
        values: up,
      },
    ];
  }

  async function formatText(): Promise<string> {
    const read = await readAll();
    const texts = [await processMetrics().metrics(), await registry.metrics()];
    for (const metric of read) {
      texts.push(`${formatGauge(metric)}\n`);
      // One metric may have tens of thousands of lines.
      await turnOfEventLoop();
    }
    return texts.join("\n");
  }

  let underWay: Promise<string> | null = null;
  return {
    contentType: registry.contentType,
    /** Concurrent scrapes share one result. */
    text: () =>
      (underWay ??= formatText().finally(() => {
        underWay = null;
      })),
  };
}

let processRegistry: Registry | null = null;

/**
 * Processor, memory, event loop, garbage collection, by the names that every Node service has. One for the process,
 * however many services a test starts in it: what measures is hooked into the runtime for good.
 */
function processMetrics(): Registry {
  if (processRegistry === null) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  return processRegistry;
}

/** @throws at the deadline, also while it waits for a connection; a running statement ends by its own deadline */
async function withinTime<Result>(running: Promise<Result>): Promise<Result> {
  const over = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => over.reject(new Error(`It took more than ${deadlineMs} ms.`)),
    deadlineMs,
  );
  try {
    return await Promise.race([running, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}
