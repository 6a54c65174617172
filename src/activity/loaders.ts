import type { LoaderFunctionArgs } from "react-router";
import { queryClient } from "../api/query.ts";
import { everyServerQuery, everySiteQuery, siteQuery } from "../app/inventory.ts";
import { load, loadIfThere } from "../app/routing/loading.ts";
import { readFilter } from "./filter.ts";
import { changeTimeline, newerQuery, timelineQuery } from "./queries.ts";
import { withNewer } from "./timeline.ts";

export async function activityLoader({ request }: LoaderFunctionArgs) {
  const filter = readFilter(new URL(request.url).search);
  const query = timelineQuery(filter);
  const seen = queryClient.getQueryData<{ data: { id: number }[] } | null>(query.queryKey);

  const loadTimeline = async () => {
    await load(request, query);
    if (seen === undefined || seen === null) return;
    // The entries are cached, so only newer ones are loaded. If that fails, the live bar tries again.
    const newer = newerQuery(filter, seen.data[0]?.id ?? 0);
    const answer = await queryClient
      .fetchQuery({ ...newer, staleTime: 0, retry: false })
      .catch(() => null);
    if (answer !== null) changeTimeline(filter, (shown) => withNewer(shown, answer));
  };
  /** Returns the server whose sites are listed: the selected one, or that of the selected site. */
  const findServer = async () => {
    if (filter.server !== undefined || filter.site === undefined) return filter.server ?? null;
    return (await loadIfThere(request, siteQuery(filter.site)))?.server_id ?? null;
  };
  const loadSites = async () => {
    const id = await findServer();
    if (id !== null) await loadIfThere(request, everySiteQuery(id));
    return id;
  };

  const [sitesOf] = await Promise.all([
    loadSites(),
    loadTimeline(),
    loadIfThere(request, everyServerQuery()),
  ]);
  return { filter, sitesOf };
}
