// The places in the sidebar, depending on what the service can list.
import { useQuery } from "@tanstack/react-query";
import type { Server } from "../../../contract/servers.ts";
import { sessions } from "../../api/session.ts";
import { paths } from "../../paths.ts";
import { useStore } from "../../store.ts";
import { everyServerQuery, isWhole, overviewMs, overviewQuery, sitesQuery } from "../inventory.ts";
import { type KnownPlace, knownServers, knownSites } from "../place/known-places.ts";
import { Link } from "../Link.tsx";
import { useCurrentPlace } from "../place/current-place.ts";
import { PlaceTree } from "./PlaceTree.tsx";
import type { Place } from "./tree.ts";

function PlaceLink({ kind, id, name }: Place & { name: string }) {
  const current = useCurrentPlace();
  return (
    <li>
      <Link
        to={kind === "site" ? paths.workers(id) : paths.backups(id)}
        aria-current={current?.kind === kind && current.id === id ? "true" : undefined}
        className="flex min-h-8 items-center rounded-md px-2 py-1 text-muted hover:bg-hover hover:text-ink aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent"
      >
        <span className="truncate">{name}</span>
      </Link>
    </li>
  );
}

/** Places that were opened by id, where the service cannot list its servers. */
function KnownPlaces() {
  const { address } = useStore(sessions.state);
  const isOfService = (place: KnownPlace) => place.address === address;
  const servers = useStore(knownServers).filter(isOfService);
  const sites = useStore(knownSites).filter(isOfService);
  return (
    <ul>
      {servers.map(({ id }) => (
        <PlaceLink key={`server ${id}`} kind="server" id={id} name={`Server ${id} backups`} />
      ))}
      {sites.map(({ id }) => (
        <PlaceLink key={`site ${id}`} kind="site" id={id} name={`Site ${id}`} />
      ))}
    </ul>
  );
}

function ServerPlaces({ server }: { server: Server }) {
  const { data: sites } = useQuery(sitesQuery(server.id));
  return (
    <>
      <PlaceLink kind="server" id={server.id} name={server.name} />
      {sites?.data.map(({ id, name }) => (
        <PlaceLink key={id} kind="site" id={id} name={name} />
      ))}
    </>
  );
}

/** For a service without an overview of servers: requests the sites of each server. */
function ListedPlaces() {
  const { data: servers } = useQuery(everyServerQuery());
  if (servers === null) return <KnownPlaces />;
  return (
    <ul>
      {servers?.data.map((server) => (
        <ServerPlaces key={server.id} server={server} />
      ))}
    </ul>
  );
}

export function NavPlaces() {
  const { data: overview } = useQuery({ ...overviewQuery(), refetchInterval: overviewMs });
  if (overview === undefined) return null;
  return isWhole(overview) ? <PlaceTree servers={overview.servers} /> : <ListedPlaces />;
}
