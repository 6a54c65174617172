// The servers and sites of the side navigation as lines, and what the arrow keys do among them. Pure.
import type { OverviewServer } from "../../../contract/overview-parts.ts";

export type Place = { kind: "site" | "server"; id: number };

/** A filter stands above the tree once there are so many sites. */
export const filterFrom = 10;

export const keyOf = ({ kind, id }: Place): string => `${kind} ${id}`;

type Branch = { server: OverviewServer; sites: OverviewServer["sites"]; isOpen: boolean };

type TreeOptions = {
  filter: string;
  /** Servers that somebody opened or closed by hand. */
  opened: ReadonlyMap<number, boolean>;
  current: Place | null;
};

/** What the filter finds; a server is open by hand, for what was found in it, or for the page that is shown. */
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
  // A few are all in sight; many would be a wall.
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

/** The lines that can be seen, from top to bottom. */
export const placesOf = (branches: readonly Branch[]): Place[] =>
  branches.flatMap(({ server, sites, isOpen }) => [
    { kind: "server" as const, id: server.id },
    ...(isOpen ? sites.map(({ id }) => ({ kind: "site" as const, id })) : []),
  ]);

type Move = { type: "focus"; place: Place } | { type: "open" | "close"; serverId: number } | null;

/** What a key does from a line. In a text from right to left the arrows to the side change places. */
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

/** Cuts a name where its middle is, so that the end, by which many names differ, stays in sight. */
export function splitName(name: string): [start: string, end: string] {
  const endLength = Math.min(12, Math.floor(name.length / 2));
  return [name.slice(0, name.length - endLength), name.slice(name.length - endLength)];
}
