// The sidebar: servers, backups, sites, and which service this is.
import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { useLocation } from "react-router";
import { sessions } from "../../api/session.ts";
import { paths } from "../../paths.ts";
import { useStore } from "../../store.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Mark } from "../../ui/Mark.tsx";
import { keysCommand } from "../../shortcuts/keys-dialog.ts";
import { idle } from "../idle.ts";
import { overviewQuery, serversQuery } from "../inventory.ts";
import { Link } from "../Link.tsx";
import { optionalPart } from "../routing/optional-part.ts";
import { PaletteButton } from "../../palette/PaletteButton.tsx";
import { SettingsLink } from "../place/SettingsLink.tsx";
import { wideScreen } from "./wide-screen.ts";
import { Icon, type IconName } from "../../ui/Icon.tsx";

const rowClass = "flex min-h-8 items-center gap-2 rounded-md px-2 py-1";

const linkClass = `${rowClass} text-muted hover:bg-hover hover:text-ink aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent`;

const NavMissing = () => (
  <p className="px-2 text-sm text-muted">Couldn't load the navigation. Reload the page.</p>
);

// Loaded when idle on a wide screen, and at once where a menu is opened for it.
const NavPlaces = optionalPart(async () => {
  if (wideScreen.get()) await idle();
  return (await import("./NavPlaces.tsx")).NavPlaces;
}, NavMissing);

function PageLink({ to, icon, label }: { to: string; icon: IconName; label: string }) {
  const { pathname } = useLocation();
  return (
    <Link to={to} aria-current={pathname.startsWith(to) ? "page" : undefined} className={linkClass}>
      <Icon name={icon} />
      {label}
    </Link>
  );
}

export function SideNav() {
  const { data: overview } = useQuery(overviewQuery());
  const { data: servers } = useQuery({ ...serversQuery(), enabled: overview === null });
  const isBare = overview === null && servers === null;
  const { address } = useStore(sessions.state);
  const { pathname } = useLocation();
  return (
    // In a low window, such as a phone in landscape, the list of places would have no room, so everything scrolls.
    <nav aria-label="Main" className="flex h-full flex-col gap-3 p-3 [@media(height<32rem)]:h-auto">
      <Link to={paths.home()} className={`${rowClass} text-lg font-semibold tracking-tight`}>
        <Mark />
        Quarterdeck
      </Link>
      <PaletteButton look="field" />
      <div className="grid">
        <Link
          to={paths.home()}
          aria-current={pathname === paths.home() ? "page" : undefined}
          className={linkClass}
        >
          <Icon name="server" />
          {isBare ? "Sites and servers" : "Overview"}
        </Link>
        {!isBare && <PageLink to={paths.activity()} icon="activity" label="Activity" />}
      </div>
      {/* The focus ring of a line must not be clipped. */}
      <div className="-mx-1 min-h-0 flex-1 overflow-y-auto px-1 [@media(height<32rem)]:overflow-visible">
        <Suspense>
          <NavPlaces />
        </Suspense>
      </div>
      <PageLink to={paths.help()} icon="info" label="Help" />
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
