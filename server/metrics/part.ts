// Types and helpers for the metrics of a room that are read from the database at each scrape.
import type { Connection } from "../store/database.ts";

export type Labels = Record<string, string>;

/** A gauge with its current values. It is exported even without values, so that alerting rules still find its name. */
export type Metric = {
  /** With its unit, by the convention of Prometheus: `quarterdeck_…_seconds`. */
  name: string;
  help: string;
  values: readonly { labels?: Labels; value: number }[];
};

export type MetricsPart = {
  /** As `quarterdeck_metrics_part_up` names it. */
  name: string;
  /** @param tx a transaction that only reads, and whose statements have a deadline */
  read(tx: Connection): Promise<Metric[]>;
};

/** Returns one value for each state, 0 included, so that no series disappears. */
export const perState = <State extends string>(
  label: string,
  states: readonly State[],
  countOf: (state: State) => number,
): Metric["values"] =>
  states.map((state) => ({ labels: { [label]: state }, value: countOf(state) }));

/** Rows of `select status, count(*)` as a look-up. */
export function countsOf(rows: readonly { status: string; many: number }[]) {
  const counts = new Map(rows.map(({ status, many }) => [status, many]));
  return (status: string): number => counts.get(status) ?? 0;
}

/** Returns seconds since 1970, the time unit of Prometheus. */
export const toSeconds = (date: Date): number => date.getTime() / 1000;
