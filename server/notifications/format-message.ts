// Formats events as a message: outcome first, then what and where, why, when, and what comes next.
import { eventTitles } from "../../contract/event-titles.ts";
import { titleOf, outcomeOf, type EventRow } from "../events/event.ts";
import type { InventoryStore } from "../inventory/store.ts";
import type { Message } from "./channels/channel.ts";
import type { MessageRow } from "./message-store.ts";

type FormatMessageOptions = {
  inventory: InventoryStore;
  /** @returns the dashboard's address, without a trailing slash; null where it is unknown yet */
  address(): string | null;
  /** Unique id of the installation. */
  installation: string;
};

/** Number of subjects that a message about a burst names; a message has room for ten facts. */
const maxNamed = 9;
/** Number of changes of one subject that are listed one by one, beside where it is. */
const maxChanges = 7;

export function createFormatMessage({ inventory, address, installation }: FormatMessageOptions) {
  /** The same in all attempts, and unique over installations: mailboxes merge messages with the same id. */
  const idOf = ({ id }: MessageRow) => `msg_${installation}_${id}`;
  const link = (path: string) => {
    const root = address();
    return root === null ? null : root + path;
  };

  async function placeFacts(event: EventRow): Promise<[string, string][]> {
    const { server_id: serverId, site_id: siteId } = event;
    if (serverId === null) return [];
    const server = await inventory.findServer(serverId);
    const site = siteId === null ? null : await inventory.findSite(siteId);
    const database = event.data["database"];
    return [
      ["Server", server?.name ?? String(serverId)],
      ...(site === null ? [] : [["Site", site.name] satisfies [string, string]]),
      ...(typeof database === "string" ? [["Database", database] satisfies [string, string]] : []),
    ];
  }

  const zoneOf = async ({ server_id: id }: EventRow): Promise<string> =>
    (id === null ? null : await inventory.findServer(id))?.timeZone ?? "UTC";

  /** Formats several changes of one subject: its current state, and the history. */
  async function changes(row: MessageRow, events: EventRow[], last: EventRow): Promise<Message> {
    const zone = await zoneOf(last);
    const listed = events.slice(-maxChanges);
    const earlier = row.count - listed.length;
    return {
      id: idOf(row),
      outcome: outcomeOf[last.type],
      title: titleOf(last.type, last.notification),
      facts: [
        ...(await placeFacts(last)).slice(0, 2),
        ...(earlier > 0 ? [["Earlier", `${earlier} more changes`] as const] : []),
        ...listed.map(
          ({ type, created_at: at }) => [eventTitles[type], momentText(at, zone)] as const,
        ),
      ],
      reason:
        events.findLast(({ notification }) => notification.reason !== null)?.notification.reason ??
        null,
      link: link(last.notification.path),
    };
  }

  async function one(row: MessageRow, event: EventRow): Promise<Message> {
    const zone = await zoneOf(event);
    return {
      id: idOf(row),
      outcome: outcomeOf[event.type],
      title: titleOf(event.type, event.notification),
      facts: [
        ...(await placeFacts(event)),
        ["Time", momentText(event.created_at, zone)],
        ...event.notification.facts,
        ...event.notification.moments.map(
          ([label, at]) => [label, momentText(new Date(at), zone)] as const,
        ),
      ],
      reason: event.notification.reason,
      link: link(event.notification.path),
    };
  }

  async function several(row: MessageRow, events: EventRow[]): Promise<Message> {
    const [first] = events;
    const bySubject = [...Map.groupBy(events, ({ notification }) => notification.subject)];
    const named = bySubject.slice(0, maxNamed);
    const rest = row.count - named.reduce((sum, [, those]) => sum + those.length, 0);
    return {
      id: idOf(row),
      outcome: first === undefined ? "neutral" : outcomeOf[first.type],
      title: row.title,
      facts: [
        ...named.map(([subject, those]) => [subject, timesText(those)] as const),
        ...(rest > 0 ? [["Others", `${rest} more`] as const] : []),
      ],
      reason:
        events.find(({ notification }) => notification.reason !== null)?.notification.reason ??
        null,
      link: link(first?.server_id == null ? "/activity" : `/activity?server=${first.server_id}`),
    };
  }

  return async (row: MessageRow, events: EventRow[]): Promise<Message> => {
    const [first] = events;
    if (first === undefined) return { ...testMessage(row, link("/")), id: idOf(row) };
    const last = events.at(-1) ?? first;
    if (row.count === 1) return one(row, first);
    return events.some(({ type }) => type !== last.type)
      ? changes(row, events, last)
      : several(row, events);
  };
}

function timesText(events: EventRow[]): string {
  const last = events.at(-1);
  const at = last === undefined ? "" : momentText(last.created_at, "UTC");
  return events.length === 1 ? at : `${events.length} times, last at ${at}`;
}

const testMessage = (row: MessageRow, home: string | null): Omit<Message, "id"> => ({
  outcome: "neutral",
  title: row.title,
  facts: [["Time", momentText(row.created_at, "UTC")]],
  reason: null,
  link: home,
});

/** Formats a moment in UTC and in the server's zone, e.g. `2026-01-31 09:30 UTC (10:30 in Europe/Berlin)`. */
function momentText(at: Date, zone: string): string {
  const [day, time] = wallTime(at, "UTC");
  if (zone === "UTC") return `${day} ${time} UTC`;
  const [localDay, localTime] = wallTime(at, zone);
  const local = localDay === day ? localTime : `${localDay} ${localTime}`;
  return `${day} ${time} UTC (${local} in ${zone})`;
}

function wallTime(at: Date, timeZone: string): [day: string, time: string] {
  // The Swedish date format is that of ISO 8601.
  const text = at.toLocaleString("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
  const [day = "", time = ""] = text.split(" ");
  return [day, time];
}

export type FormatMessage = ReturnType<typeof createFormatMessage>;
