// Durations as people say them.

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** The largest whole unit, e.g. "3 seconds", "1 minute". */
export function durationInWords(ms: number): string {
  const [unit, unitMs] = units.find(([, least]) => ms >= least) ?? ["second", 1000];
  const count = Math.max(0, Math.floor(ms / unitMs));
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** A duration for people, rounded: "0.6 s", "42 s", "5 min", "2 h 10 min". */
export function shortDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return rest === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}
