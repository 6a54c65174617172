// The timeline over HTTP.
import { activityPerPage, type ActivityEntry } from "../../contract/activity.ts";
import { operations } from "../../contract/operations.ts";
import { toTimestamp } from "../../contract/values.ts";
import { nothingToFind, reply, route, type Route } from "../http/route.ts";
import type { ActivityRow, ActivityStore } from "./store.ts";

export const activityRoutes = (store: ActivityStore): Route[] => [
  route(operations.listActivity, {
    find: nothingToFind,
    handle: async ({ query, caller }) => {
      const filter = {
        serverId: toId(query.server),
        siteId: toId(query.site),
        kind: query.kind ?? null,
        before: toId(query.before),
        after: toId(query.after),
        visible: caller.serverIds,
      };
      // One more than is shown tells whether there is more.
      const rows = await store.list(filter, activityPerPage + 1);
      const shown = rows.slice(0, activityPerPage);
      const next = rows.length > activityPerPage ? (shown.at(-1)?.id ?? null) : null;
      return reply(200, { data: shown.map(toEntry), next });
    },
  }),
];

const toId = (text: string | undefined): number | null =>
  text === undefined ? null : Math.min(Number(text), largestId);
/** Of an `integer` column; a larger one would be an error of the database and finds nothing anyhow. */
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
