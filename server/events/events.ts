// The room, wired once: what turns events into deliveries and messages, and what forgets them.
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock } from "../clock.ts";
import type { MetricsPart } from "../metrics/part.ts";
import type { Database } from "../store/database.ts";
import type { Listener } from "../store/listen.ts";
import { countEvents, eventMetrics } from "./metrics.ts";
import { createOutboxRelay, eventsChannel, type Receive } from "./outbox-relay.ts";
import { createPrune } from "./prune.ts";

type EventsOptions = {
  db: Database;
  /** Hears `eventsChannel`. */
  listener: Listener;
  receivers: readonly Receive[];
  /** For how long the timeline and what was sent are kept. */
  keepDays: number;
  registry: Registry;
  clock: Clock;
  log: Logger;
};

type Events = {
  metrics: MetricsPart;
  /** Removes what is older than the operator wants to keep. */
  prune(): Promise<void>;
  /** Begins to dispatch, first what a service before this one left. */
  resume(): void;
  stop(): Promise<void>;
};

export function createEvents(options: EventsOptions): Events {
  const { listener, registry, clock } = options;
  const relay = createOutboxRelay({ ...options, onDispatched: countEvents(registry) });
  listener.on(eventsChannel, relay.wake);
  return {
    metrics: eventMetrics(clock.now),
    prune: createPrune(options),
    resume: relay.wake,
    stop: relay.stop,
  };
}
