// The servers and sites of the sidebar as lines, and their arrow keys. Pure.
import type { OverviewServer } from "../../../contract/overview-parts.ts";

export type Place = { kind: "site" | "server"; id: number };

/** Number of sites from which the tree has a filter. */
export const filterFrom = 10;

export const keyOf = ({ kind, id }: Place): string => `${kind} ${id}`;

type Branch = { server: OverviewServer; sites: OverviewServer["sites"]; isOpen: boolean };

type TreeOptions = {
  filter: string;
  /** Servers that the user opened or closed. */
  opened: ReadonlyMap<number, boolean>;
  current: Place | null;
};

/** Filters the tree. A server is open by the user's choice, for matches in it, or for the current page. */
export function branchesOf(
  servers: readonly OverviewServer[],
  { filter, opened, current }: TreeOptions,
): Branch[] {
  const wanted = filter.trim().toLowerCase();
  const isNamed = ({ name }: { name: string }) => name.toLowerCase().includes(wanted);
  if (wanted !== "")
    return servers.flatMap((server) => {
      const sites = isNamed(server) ? server.sites : server.sites.filter(isNamed);
      return isNamed(server) || sites.length > 0 ? [{ server, sites, isOpen: true }] : [];
    });
  // A few sites are all shown; many would be overwhelming.
  const isSmall = servers.reduce((sum, { sites }) => sum + sites.length, 0) < filterFrom;
  return servers.map((server) => {
    const isHere =
      current !== null &&
      (current.kind === "server"
        ? current.id === server.id
        : server.sites.some(({ id }) => id === current.id));
    return { server, sites: server.sites, isOpen: opened.get(server.id) ?? (isSmall || isHere) };
  });
}

/** The visible lines, from top to bottom. */
export const placesOf = (branches: readonly Branch[]): Place[] =>
  branches.flatMap(({ server, sites, isOpen }) => [
    { kind: "server" as const, id: server.id },
    ...(isOpen ? sites.map(({ id }) => ({ kind: "site" as const, id })) : []),
  ]);

type Move = { type: "focus"; place: Place } | { type: "open" | "close"; serverId: number } | null;

/** Returns the effect of a key on a line. From right to left, the horizontal arrows are exchanged. */
export function moveBy(
  key: string,
  from: Place,
  branches: readonly Branch[],
  isRightToLeft = false,
): Move {
  const places = placesOf(branches);
  const place = places.findIndex((one) => keyOf(one) === keyOf(from));
  const focus = (next: Place | undefined): Move =>
    next === undefined ? null : { type: "focus", place: next };
  const branch = branches.find(({ server, sites }) =>
    from.kind === "server" ? server.id === from.id : sites.some(({ id }) => id === from.id),
  );
  const [inward, outward] = isRightToLeft
    ? ["ArrowLeft", "ArrowRight"]
    : ["ArrowRight", "ArrowLeft"];
  switch (key) {
    case "ArrowDown":
      return focus(places[place + 1]);
    case "ArrowUp":
      return focus(places[place - 1]);
    case "Home":
      return focus(places[0]);
    case "End":
      return focus(places.at(-1));
    case inward:
      if (from.kind === "site" || branch === undefined || branch.sites.length === 0) return null;
      return branch.isOpen ? focus(places[place + 1]) : { type: "open", serverId: from.id };
    case outward:
      if (branch === undefined) return null;
      if (from.kind === "site") return focus({ kind: "server", id: branch.server.id });
      return branch.isOpen ? { type: "close", serverId: from.id } : null;
    default:
      return null;
  }
}

/** Splits a name so that its end, by which many names differ, is never truncated. */
export function splitName(name: string): [start: string, end: string] {
  const endLength = Math.min(12, Math.floor(name.length / 2));
  return [name.slice(0, name.length - endLength), name.slice(name.length - endLength)];
}
