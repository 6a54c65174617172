// What of the timeline is shown; it stands in the address.
import { type ActivityKind, activityKinds } from "../../contract/activity.ts";
import { readId, readText } from "../paths.ts";

export type Filter = {
  server?: number;
  site?: number;
  kind?: ActivityKind;
  /** A name. */
  actor?: string;
  /** Beginnings of words. */
  q?: string;
  /** Days of the viewer's own zone, both included: "2026-01-31". */
  from?: string;
  to?: string;
};

/** A year that is being typed begins with zeros: 0002, 0020, 0202. */
const dayPattern = /^[1-9]\d{3}-\d\d-\d\d$/;

/** When a day begins where the viewer is, so many days later. */
function dayStart(day: string, later = 0): Date {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later);
}

/** Whether it is a day of the calendar: "2026-02-30" is none. */
export const isDay = (day: string): boolean =>
  dayPattern.test(day) && dayStart(day).getDate() === Number(day.slice(8));

/** What makes no sense in an address counts as not there. */
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

/** The same as the service reads it. */
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

/** Another server has other sites. */
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
