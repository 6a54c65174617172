// The start page for a service that lists its servers but has no overview.
import { useQuery } from "@tanstack/react-query";
import type { Server } from "../../../contract/servers.ts";
import { useLoaded } from "../../api/query.ts";
import { ProtectionPanel } from "../../backups/protection/ProtectionPanel.tsx";
import { paths } from "../../paths.ts";
import { DocsLink } from "../../ui/text/DocsLink.tsx";
import { EmptyState } from "../../ui/feedback/EmptyState.tsx";
import { memoryText } from "../../ui/text/memory-text.ts";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { Skeleton } from "../../ui/feedback/Skeleton.tsx";
import { serversQuery, sitesQuery } from "../inventory.ts";
import { Link } from "../Link.tsx";
import { OverviewPanel } from "./OverviewPanel.tsx";
import { PageLinks } from "../PageLinks.tsx";
import { Icon } from "../../ui/Icon.tsx";

function ServerSection({ server }: { server: Server }) {
  const { data: sites } = useQuery(sitesQuery(server.id));
  return (
    <Panel
      title={server.name}
      actions={
        <p className="text-sm text-muted">
          {server.memory !== null && (
            <span className="max-sm:hidden">{memoryText(server.memory)} memory · </span>
          )}
          {server.time_zone}
        </p>
      }
    >
      <ProtectionPanel serverId={server.id} />
      <ul className="border-t border-line">
        {sites === undefined && (
          <li className="flex h-11 items-center px-4 max-sm:px-3">
            <Skeleton width="w-40" />
          </li>
        )}
        {sites?.data.length === 0 && (
          <li className="flex min-h-11 items-center px-4 text-sm text-muted max-sm:px-3">
            No sites. Add one to the inventory.
          </li>
        )}
        {sites?.data.map((site) => (
          <li key={site.id} data-row className="border-b border-line last:border-b-0">
            <Link
              to={paths.workers(site.id)}
              className="flex min-h-11 items-center gap-3 px-4 py-2 text-sm -outline-offset-2 hover:bg-hover max-sm:px-3"
            >
              <span className="text-muted">
                <Icon name="site" />
              </span>
              <span className="font-medium wrap-anywhere">{site.name}</span>
              <span className="ms-auto truncate ps-3 font-mono text-xs text-muted max-sm:hidden">
                {site.root}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function ServersPage({ page }: { page: number }) {
  const servers = useLoaded(serversQuery(page));
  // The loader has checked that this service lists servers.
  if (servers === null) return null;
  return (
    <>
      <PageHeader title="Overview" />
      {servers.data.length > 0 && <OverviewPanel />}
      {servers.data.map((server) => (
        <ServerSection key={server.id} server={server} />
      ))}
      {servers.data.length === 0 && (
        <Panel>
          <EmptyState title="No servers" art="servers">
            Add servers and sites to the service&apos;s inventory file to see them here.{" "}
            <DocsLink page="inventory">Inventory reference</DocsLink>
          </EmptyState>
        </Panel>
      )}
      <PageLinks meta={servers.meta} pathOf={paths.home} />
    </>
  );
}
