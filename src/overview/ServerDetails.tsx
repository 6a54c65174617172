// The sites of a server, and its protection.
import type { OverviewServer } from "../../contract/overview-parts.ts";
import { healthLook } from "../app/place/health.ts";
import { Link } from "../app/Link.tsx";
import { LinkButton } from "../app/LinkButton.tsx";
import { ProtectionPanel } from "../backups/protection/ProtectionPanel.tsx";
import { paths } from "../paths.ts";
import { StatusDot } from "../ui/feedback/StatusDot.tsx";

export function ServerDetails({ server }: { server: OverviewServer }) {
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 px-4 pt-3 max-sm:px-3">
        <LinkButton to={paths.backups(server.id)}>Backups</LinkButton>
        <LinkButton to={paths.serverNotifications(server.id)}>Notifications</LinkButton>
        <LinkButton to={paths.server(server.id)}>Server</LinkButton>
      </div>
      {server.sites.length > 0 && (
        <ul
          aria-label="Sites"
          className="grid grid-cols-[repeat(auto-fill,minmax(min(16rem,100%),1fr))] gap-x-4 px-4 py-2 text-sm max-sm:px-3"
        >
          {server.sites.map(({ id, name, health, is_sample: isSample }) => (
            <li key={id} className="flex min-w-0 items-center gap-2">
              <StatusDot tone={healthLook(health).tone} />
              <Link
                to={paths.workers(id)}
                className="min-w-0 py-1 wrap-anywhere underline decoration-edge underline-offset-4 hover:decoration-current"
              >
                {name}
              </Link>
              {isSample === true && <span className="text-xs text-muted">Sample</span>}
            </li>
          ))}
        </ul>
      )}
      <div className="border-t border-line bg-raised">
        <ProtectionPanel serverId={server.id} />
      </div>
    </>
  );
}
