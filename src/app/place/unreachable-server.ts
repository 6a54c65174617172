import { useQuery } from "@tanstack/react-query";
import { useLayoutEffect } from "react";
import { useLocation } from "react-router";
import { paths } from "../../paths.ts";
import { useCurrentPlace } from "./current-place.ts";
import { overviewMs, overviewQuery } from "../inventory.ts";

type Unreachable = { id: number; name: string; since: string };

/**
 * Returns the server of the page while it does not respond: the page then shows the last known data without color. Null
 * on the server's own page, which shows the state itself.
 */
export function useUnreachableServer(): Unreachable | null {
  const place = useCurrentPlace();
  const { pathname } = useLocation();
  const { data: overview } = useQuery({ ...overviewQuery(), refetchInterval: overviewMs });
  const server = overview?.servers?.find(({ id, sites }) =>
    place?.kind === "site" ? sites.some((site) => site.id === place.id) : id === place?.id,
  );
  const { what, since } = server?.unreachable ?? {};
  const isShown = what === "server" && pathname !== paths.server(server?.id ?? 0);
  useLayoutEffect(() => {
    document.querySelector("main")?.toggleAttribute("data-last-known", isShown);
  }, [isShown]);
  if (!isShown || server === undefined || since === undefined) return null;
  return { id: server.id, name: server.name, since };
}
