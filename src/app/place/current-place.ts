import { useMatches } from "react-router";

type Place = { kind: "site" | "server"; id: number };

/** Returns what the page belongs to, by its loaders: a site takes precedence over its server. */
export function useCurrentPlace(): Place | null {
  const data = useMatches().map(({ loaderData }) => loaderData);
  for (const entry of data.toReversed()) {
    if (typeof entry !== "object" || entry === null) continue;
    if ("siteId" in entry)
      return typeof entry.siteId === "number" ? { kind: "site", id: entry.siteId } : null;
    if ("serverId" in entry)
      return typeof entry.serverId === "number" ? { kind: "server", id: entry.serverId } : null;
  }
  return null;
}
