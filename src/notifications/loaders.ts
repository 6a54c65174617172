// What the page needs before it shows. `siteId` also tells the left side where we are.
import type { LoaderFunctionArgs } from "react-router";
import { siteQuery } from "../app/inventory.ts";
import { idOf, load, loadIfThere } from "../app/loading.ts";
import { channelsQuery, notificationsQuery } from "./queries.ts";

export async function notificationsLoader({ params, request }: LoaderFunctionArgs) {
  const siteId = idOf(params);
  await Promise.all([
    load(request, notificationsQuery(siteId)),
    load(request, channelsQuery()),
    loadIfThere(request, siteQuery(siteId)),
  ]);
  return { siteId };
}
