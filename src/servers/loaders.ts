import type { LoaderFunctionArgs } from "react-router";
import { serverQuery } from "../app/inventory.ts";
import { idOf, load, loadPlace } from "../app/routing/loading.ts";
import { serverStatusQuery } from "./queries.ts";

export async function serverLoader({ params, request }: LoaderFunctionArgs) {
  const serverId = idOf(params);
  await Promise.all([
    load(request, serverStatusQuery(serverId)),
    loadPlace(request, serverQuery(serverId)),
  ]);
  return { serverId };
}
