// What of the timeline is shown; it stands in the address.
import { type ActivityKind, activityKinds } from "../../contract/activity.ts";
import { readId } from "../paths.ts";

export type Filter = { server?: number; site?: number; kind?: ActivityKind };

/** What makes no sense in an address counts as not there. */
export function readFilter(search: string): Filter {
  const given = new URLSearchParams(search);
  const server = readId(given.get("server") ?? undefined);
  const site = readId(given.get("site") ?? undefined);
  const kind = activityKinds.find((known) => known === given.get("kind"));
  return {
    ...(server !== null && { server }),
    ...(site !== null && { site }),
    ...(kind !== undefined && { kind }),
  };
}

export const isFiltered = (filter: Filter): boolean => Object.keys(filter).length > 0;

/** The same as the service reads it. */
export const toQuery = ({ server, site, kind }: Filter) => ({
  ...(server !== undefined && { server: String(server) }),
  ...(site !== undefined && { site: String(site) }),
  ...(kind !== undefined && { kind }),
});

/** Another server has other sites. */
export function withServer({ kind }: Filter, server: number | undefined): Filter {
  return { ...(server !== undefined && { server }), ...(kind !== undefined && { kind }) };
}

export const kindWords: Record<ActivityKind, string> = {
  backup: "Backups",
  worker: "Workers",
  webhook: "Webhooks",
  notification: "Notifications",
  deployment: "Deployments",
  token: "Tokens",
};
