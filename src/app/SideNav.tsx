// The left side: servers and their sites, and which service this is.
import { useQuery } from "@tanstack/react-query";
import { useLocation, useMatches } from "react-router";
import type { Server } from "../../contract/servers.ts";
import { sessions } from "../api/session.ts";
import { paths } from "../paths.ts";
import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { Mark } from "../ui/Mark.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { ConnectionState } from "./ConnectionState.tsx";
import { serversQuery, sitesQuery } from "./inventory.ts";
import { knownSites } from "./known-sites.ts";
import { Link } from "./Link.tsx";
import { Icon } from "../ui/Icon.tsx";

const rowClass = "flex min-h-8 items-center gap-2 rounded-md px-2 py-1";

/** The site that the page belongs to, as its loader says. */
function useCurrentSiteId(): number | null {
  const data = useMatches().map(({ loaderData }) => loaderData);
  for (const entry of data.toReversed())
    if (typeof entry === "object" && entry !== null && "siteId" in entry)
      return typeof entry.siteId === "number" ? entry.siteId : null;
  return null;
}

function SiteLink({ id, name }: { id: number; name: string }) {
  const isCurrent = useCurrentSiteId() === id;
  return (
    <li>
      <Link
        to={paths.workers(id)}
        // "true", not "page": the site is current on all of its pages.
        aria-current={isCurrent ? "true" : undefined}
        className={`${rowClass} text-muted hover:bg-hover hover:text-ink aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent`}
      >
        <Icon name="site" />
        <span className="truncate">{name}</span>
      </Link>
    </li>
  );
}

function ServerSites({ server }: { server: Server }) {
  const { data: sites } = useQuery(sitesQuery(server.id));
  return (
    <li>
      <p className={`${rowClass} font-medium`}>
        <span className="text-muted">
          <Icon name="server" />
        </span>
        <span className="truncate">{server.name}</span>
      </p>
      <ul className="ml-2 border-l border-line pl-1.5">
        {sites === undefined && (
          <li className={rowClass}>
            <Skeleton width="w-24" />
          </li>
        )}
        {sites?.data.map(({ id, name }) => (
          <SiteLink key={id} id={id} name={name} />
        ))}
      </ul>
    </li>
  );
}

function KnownSites() {
  const address = useStore(sessions.state).address;
  const sites = useStore(knownSites).filter((site) => site.address === address);
  return sites.map(({ id }) => <SiteLink key={id} id={id} name={`Site ${id}`} />);
}

export function SideNav() {
  const { data: servers } = useQuery(serversQuery());
  const { address } = useStore(sessions.state);
  const isHome = useLocation().pathname === paths.home();
  return (
    <nav aria-label="Main" className="flex h-full flex-col gap-3 p-3">
      <Link to={paths.home()} className={`${rowClass} text-lg font-semibold tracking-tight`}>
        <Mark />
        Quarterdeck
      </Link>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <Link
          to={paths.home()}
          aria-current={isHome ? "page" : undefined}
          className={`${rowClass} text-xs font-medium text-muted hover:bg-hover hover:text-ink aria-[current]:text-accent`}
        >
          {servers === null ? "Sites" : "Servers"}
        </Link>
        <ul className="grid gap-1">
          {servers === null && <KnownSites />}
          {servers?.data.map((server) => (
            <ServerSites key={server.id} server={server} />
          ))}
        </ul>
      </div>
      <div className="flex items-center gap-1 border-t border-line pt-2 pl-2 text-sm text-muted">
        <ConnectionState>
          <span className="truncate">
            {address === "" ? location.host : address.replace(/^https?:\/\//, "")}
          </span>
        </ConnectionState>
        <Button
          variant="ghost"
          size="icon"
          aria-label="Disconnect"
          tip="Disconnect"
          onClick={() => sessions.end()}
        >
          <Icon name="leave" />
        </Button>
      </div>
    </nav>
  );
}
