// Metrics of the process: processor, memory, event loop, garbage collection, by the names that every Node service has.
import { collectDefaultMetrics, Registry } from "prom-client";

let registry: Registry | null = null;

/** One for the process, however many services a test starts in it: what measures is hooked into the runtime for good. */
export function processMetrics(): Registry {
  if (registry === null) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
