// Formats durations and sizes for people.
import { countOf } from "../../contract/count-text.ts";

const durationUnits = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** Formats a duration in its largest whole unit, e.g. "3 seconds", "1 minute". */
export function durationInWords(ms: number): string {
  const [unit, unitMs] = durationUnits.find(([, least]) => ms >= least) ?? ["second", 1000];
  return countOf(Math.max(0, Math.floor(ms / unitMs)), unit);
}

/** Formats a rounded duration: "0.6 s", "42 s", "5 min", "2 h 10 min". */
export function shortDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return rest === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}

const sizeUnits = ["kB", "MB", "GB", "TB", "PB"];

/** Formats a size in decimal units, e.g. "812 bytes", "4.1 MB". */
export function sizeInWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  let size = bytes;
  let index = -1;
  while (size >= 999.5 && index < sizeUnits.length - 1) {
    size /= 1000;
    index += 1;
  }
  return `${size >= 100 ? Math.round(size) : Math.round(size * 10) / 10} ${sizeUnits[index]}`;
}
