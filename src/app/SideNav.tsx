// The left side: servers, their backups and their sites, and which service this is.
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "react-router";
import type { Server } from "../../contract/servers.ts";
import { sessions } from "../api/session.ts";
import { paths } from "../paths.ts";
import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { Mark } from "../ui/Mark.tsx";
import { Skeleton } from "../ui/Skeleton.tsx";
import { keysCommand } from "../shortcuts/keys-dialog.ts";
import { useCurrentPlace } from "./current-place.ts";
import { serversQuery, sitesQuery } from "./inventory.ts";
import { type KnownPlace, knownServers, knownSites } from "./known-places.ts";
import { Link } from "./Link.tsx";
import { PaletteButton } from "../palette/PaletteButton.tsx";
import { SettingsLink } from "./SettingsLink.tsx";
import { Icon, type IconName } from "../ui/Icon.tsx";

const rowClass = "flex min-h-8 items-center gap-2 rounded-md px-2 py-1";

const headingClass = `${rowClass} text-xs font-medium text-muted hover:bg-hover hover:text-ink aria-[current]:text-accent`;

type Place = { kind: "site" | "server"; id: number };

const looks = {
  site: { icon: "site", pathOf: (id: number) => paths.workers(id) },
  server: { icon: "backup", pathOf: (id: number) => paths.backups(id) },
} as const;

function PlaceLink({ kind, id, name }: Place & { name: string }) {
  const current = useCurrentPlace();
  const { icon, pathOf } = looks[kind];
  return (
    <li>
      <Link
        to={pathOf(id)}
        // "true", not "page": the place is current on all of its pages.
        aria-current={current?.kind === kind && current.id === id ? "true" : undefined}
        className={`${rowClass} text-muted hover:bg-hover hover:text-ink aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent`}
      >
        <Icon name={icon} />
        <span className="truncate">{name}</span>
      </Link>
    </li>
  );
}

function ServerPlaces({ server }: { server: Server }) {
  const { data: sites } = useQuery(sitesQuery(server.id));
  return (
    <li>
      <p className={`${rowClass} font-medium`}>
        <span className="text-muted">
          <Icon name="server" />
        </span>
        <span className="truncate">{server.name}</span>
      </p>
      <ul className="ms-2 grid grid-cols-[minmax(0,1fr)] border-s border-line ps-1.5">
        <PlaceLink kind="server" id={server.id} name="Backups" />
        {sites === undefined && (
          <li className={rowClass} data-waiting>
            <Skeleton width="w-24" />
          </li>
        )}
        {sites?.data.map(({ id, name }) => (
          <PlaceLink key={id} kind="site" id={id} name={name} />
        ))}
      </ul>
    </li>
  );
}

/** What was opened by its id, where the service cannot list its servers. */
function KnownPlaces() {
  const { address } = useStore(sessions.state);
  const isOfService = (place: KnownPlace) => place.address === address;
  const servers = useStore(knownServers).filter(isOfService);
  const sites = useStore(knownSites).filter(isOfService);
  return (
    <>
      {servers.map(({ id }) => (
        <PlaceLink key={`server ${id}`} kind="server" id={id} name={`Server ${id} backups`} />
      ))}
      {sites.map(({ id }) => (
        <PlaceLink key={`site ${id}`} kind="site" id={id} name={`Site ${id}`} />
      ))}
    </>
  );
}

function BottomLink({ to, icon, label }: { to: string; icon: IconName; label: string }) {
  const { pathname } = useLocation();
  return (
    <Link
      to={to}
      aria-current={pathname.startsWith(to) ? "page" : undefined}
      className={`${rowClass} text-muted hover:bg-hover hover:text-ink aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent`}
    >
      <Icon name={icon} />
      {label}
    </Link>
  );
}

export function SideNav() {
  const { data: servers } = useQuery(serversQuery());
  const { address } = useStore(sessions.state);
  const { pathname } = useLocation();
  return (
    <nav aria-label="Main" className="flex h-full flex-col gap-3 p-3">
      <Link to={paths.home()} className={`${rowClass} text-lg font-semibold tracking-tight`}>
        <Mark />
        Quarterdeck
      </Link>
      <PaletteButton look="field" />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <Link
          to={paths.home()}
          aria-current={pathname === paths.home() ? "page" : undefined}
          className={headingClass}
        >
          {servers === null ? "Sites and servers" : "Servers"}
        </Link>
        {/* A server whose sites are not known yet would push down what stands below it. */}
        <ul className="grid grid-cols-[minmax(0,1fr)] gap-1 [&>li:has([data-waiting])~li]:hidden">
          {servers === null && <KnownPlaces />}
          {servers?.data.map((server) => (
            <ServerPlaces key={server.id} server={server} />
          ))}
        </ul>
      </div>
      <div>
        {servers !== null && <BottomLink to={paths.activity()} icon="activity" label="Activity" />}
        <BottomLink to={paths.help()} icon="info" label="Help" />
      </div>
      <div className="flex items-center gap-1 border-t border-line pt-2 ps-2 text-sm text-muted">
        <span className="min-w-0 flex-1 truncate">
          {address === "" ? location.host : address.replace(/^https?:\/\//, "")}
        </span>
        <SettingsLink />
        <Button
          variant="ghost"
          size="icon"
          aria-label={keysCommand.label}
          data-tip={keysCommand.label}
          aria-keyshortcuts={keysCommand.key}
          onClick={keysCommand.run}
        >
          {keysCommand.key}
        </Button>
        <Button
          variant="ghost"
          size="icon"
          aria-label="Disconnect"
          data-tip="Disconnect"
          onClick={() => sessions.end()}
        >
          <Icon name="leave" />
        </Button>
      </div>
    </nav>
  );
}
