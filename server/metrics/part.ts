// The metrics of a room: those that stand in the database are read at each scrape, the rest it counts itself.
import type { Connection } from "../store/database.ts";

export type Labels = Record<string, string>;

/** A gauge with all its values of this moment. Without any it is still named, so that a rule that asks for it is not lost. */
export type Metric = {
  /** With its unit, as Prometheus wants it: `quarterdeck_…_seconds`. */
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

/** One value for each state there is, so that none vanishes when nothing is in it. */
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

/** As Prometheus counts time. */
export const toSeconds = (date: Date): number => date.getTime() / 1000;
