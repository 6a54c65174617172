import type { LoaderFunctionArgs } from "react-router";
import { overviewQuery, serversQuery, sitesQuery } from "./inventory.ts";
import { load, loadIfThere, pageOf } from "./loading.ts";

/** What the first screen shows comes with the page; what is further down takes its place when it is there. */
const firstScreen = 3;

export async function homeLoader({ request }: LoaderFunctionArgs) {
  const page = pageOf(request);
  // A room's part: this floor knows only its name, and its code comes beside the list.
  const loadingPart = import("../backups/ProtectionPanel.tsx");
  const [servers] = await Promise.all([
    load(request, serversQuery(page)),
    // What is unknown is said in its place, and keeps nothing else from showing.
    loadIfThere(request, overviewQuery()),
  ]);
  const { ProtectionPanel, protectionQueries } = await loadingPart;
  const shown = servers?.data ?? [];
  await Promise.all([
    // The navigation beside the page asks for these anyway.
    ...shown.map(({ id }) => loadIfThere(request, sitesQuery(id))),
    ...shown
      .slice(0, firstScreen)
      .flatMap(({ id }) => protectionQueries(id))
      .map((query) => loadIfThere<unknown>(request, query)),
  ]);
  return { page, ProtectionPanel };
}
