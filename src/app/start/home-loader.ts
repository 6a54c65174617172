import type { LoaderFunctionArgs } from "react-router";
import { isWhole, overviewQuery, serversQuery } from "../inventory.ts";
import { load, loadIfThere, pageOf } from "../routing/loading.ts";

/**
 * Loads the whole overview in one request where the service has it; otherwise its list of servers, and the data of
 * each.
 */
export async function homeLoader({ request }: LoaderFunctionArgs) {
  const overview = await loadIfThere(request, overviewQuery());
  if (isWhole(overview)) return { kind: "overview", overview } as const;
  const page = pageOf(request);
  const servers = await load(request, serversQuery(page));
  if (servers === null) return { kind: "none" } as const;
  const { ServersPage } = await import("./ServersPage.tsx");
  return { kind: "servers", page, ServersPage } as const;
}
