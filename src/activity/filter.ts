// The filter of the timeline, which is in the URL.
import { type ActivityKind, activityKinds } from "../../contract/activity.ts";
import { readId, readText } from "../paths.ts";

export type Filter = {
  server?: number;
  site?: number;
  kind?: ActivityKind;
  /** Name of an actor. */
  actor?: string;
  /** Words, which match the beginnings of an entry's words. */
  q?: string;
  /** Days in the viewer's time zone, inclusive: "2026-01-31". */
  from?: string;
  to?: string;
};

/** A year that is being typed begins with zeros: 0002, 0020, 0202. */
const dayPattern = /^[1-9]\d{3}-\d\d-\d\d$/;

/** Returns the beginning of a day in the viewer's time zone, optionally so many days later. */
function dayStart(day: string, later = 0): Date {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later);
}

/** Whether a text is a valid date: "2026-02-30" is not. */
export const isDay = (day: string): boolean =>
  dayPattern.test(day) && dayStart(day).getDate() === Number(day.slice(8));

/** Reads the filter from the URL, without invalid values. */
export function readFilter(search: string): Filter {
  const given = new URLSearchParams(search);
  const server = readId(given.get("server") ?? undefined);
  const site = readId(given.get("site") ?? undefined);
  const kind = activityKinds.find((known) => known === given.get("kind"));
  const [actor, q] = [readText(given.get("actor")), readText(given.get("q")).slice(0, 200)];
  const [from, to] = [given.get("from") ?? "", given.get("to") ?? ""];
  return {
    ...(server !== null && { server }),
    ...(site !== null && { site }),
    ...(kind !== undefined && { kind }),
    ...(actor && { actor }),
    ...(q && { q }),
    ...(isDay(from) && { from }),
    ...(isDay(to) && { to }),
  };
}

export const isFiltered = (filter: Filter): boolean => Object.keys(filter).length > 0;

const toMoment = (day: string | undefined, later: number) =>
  day === undefined ? undefined : dayStart(day, later).toISOString();

/** Converts the filter to the service's query. */
export function toQuery({ server, site, kind, actor, q, from, to }: Filter) {
  const [start, end] = [toMoment(from, 0), toMoment(to, 1)];
  return {
    ...(server !== undefined && { server: String(server) }),
    ...(site !== undefined && { site: String(site) }),
    ...(kind !== undefined && { kind }),
    ...(actor !== undefined && { actor }),
    ...(q !== undefined && { search: q }),
    ...(start !== undefined && { from: start }),
    ...(end !== undefined && { to: end }),
  };
}

/** Changes the server, and resets the site. */
export function withServer(
  { server: _server, site: _site, ...others }: Filter,
  server: number | undefined,
): Filter {
  return { ...others, ...(server !== undefined && { server }) };
}

export const kindWords: Record<ActivityKind, string> = {
  inventory: "Inventory",
  backup: "Backups",
  worker: "Workers",
  webhook: "Webhooks",
  notification: "Notifications",
  deployment: "Deployments",
  server: "Servers",
  token: "Tokens",
};
