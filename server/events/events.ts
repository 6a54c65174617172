// Wires the events: the relay that turns them into deliveries and messages, and the deletion of old ones.
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
  /** Listens to `eventsChannel`. */
  listener: Listener;
  receivers: readonly Receive[];
  /** Days for which the timeline, events, deliveries and messages are kept. */
  keepDays: number;
  registry: Registry;
  clock: Clock;
  log: Logger;
};

type Events = {
  metrics: MetricsPart;
  /** Deletes what is older than `keepDays`. */
  prune(): Promise<void>;
  /** Starts to dispatch, beginning with events from before the start. */
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
