import { activityPerPage, type ActivityEntry } from "../../contract/activity.ts";
import { servedOperations } from "../../contract/served-operations.ts";
import { toTimestamp } from "../../contract/values.ts";
import { nothingToFind, reply, route, type Route } from "../http/route.ts";
import type { ActivityRow, ActivityStore } from "./store.ts";

export const activityRoutes = (store: ActivityStore): Route[] => [
  route(servedOperations.listActivity, {
    find: nothingToFind,
    handle: async ({ query, caller }) => {
      const filter = {
        serverId: toId(query.server),
        siteId: toId(query.site),
        kind: query.kind ?? null,
        actor: query.actor ?? null,
        words: toWords(query.search ?? ""),
        from: toDate(query.from),
        to: toDate(query.to),
        before: toId(query.before),
        after: toId(query.after),
        visible: caller.serverIds,
      };
      // Reads one entry more than a page, to find out whether there is a next page.
      const isNewest = query.before === undefined && query.after === undefined;
      const [rows, actors] = await Promise.all([
        store.list(filter, activityPerPage + 1),
        isNewest ? store.actors(caller.serverIds) : undefined,
      ]);
      const shown = rows.slice(0, activityPerPage);
      const next = rows.length > activityPerPage ? (shown.at(-1)?.id ?? null) : null;
      return reply(200, { data: shown.map(toEntry), next, ...(actors && { actors }) });
    },
  }),
];

const toId = (text: string | undefined): number | null =>
  text === undefined ? null : Math.min(Number(text), largestId);
const toDate = (text: string | undefined): Date | null =>
  text === undefined ? null : new Date(text);

const maxWords = 10;
/** Splits a text into words like the index: ASCII characters other than letters and digits separate words. */
const toWords = (search: string): string[] =>
  search
    .split(/[^\da-zA-Z\u0080-\u{10ffff}]+/u)
    .filter((word) => word !== "")
    .slice(0, maxWords);

/** Largest value of an `integer` column. PostgreSQL rejects a larger id, which cannot exist anyway. */
const largestId = 2_147_483_647;

const toEntry = (row: ActivityRow): ActivityEntry => ({
  id: row.id,
  at: toTimestamp(row.at),
  kind: row.kind,
  action: row.action,
  outcome: row.outcome,
  actor: { type: row.actor_type, name: row.actor_name },
  object: { type: row.object_type, id: row.object_id, name: row.object_name },
  server_id: row.server_id,
  site_id: row.site_id,
  detail: row.detail,
});
