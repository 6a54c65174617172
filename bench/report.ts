// Prints figures: name, value, aim, and whether the aim was reached.

type Aim = { atLeast: number } | { atMost: number };

export function report(what: string, value: number, unit: string, aim: Aim): void {
  const reached = "atLeast" in aim ? value >= aim.atLeast : value <= aim.atMost;
  const wanted = "atLeast" in aim ? `≥ ${aim.atLeast}` : `≤ ${aim.atMost}`;
  const shown = value.toLocaleString("en", { maximumFractionDigits: 2 });
  const verdict = reached ? "reached" : "MISSED";
  console.log(`${what.padEnd(64)} ${`${shown} ${unit}`.padStart(14)}   aim ${wanted}: ${verdict}`);
}

export const note = (text: string): void => console.log(`  ${text}`);

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export const seconds = (ms: readonly number[]) => `${(median(ms) / 1000).toFixed(2)} s`;
