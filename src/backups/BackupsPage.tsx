// A server's backups: what each protects, when it runs next, how the last run went.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import { makePoller } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { Crumbs } from "../app/Crumbs.tsx";
import { serverName, serverQuery } from "../app/inventory.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { PageLinks } from "../app/PageLinks.tsx";
import { paths } from "../paths.ts";
import { EmptyState } from "../ui/EmptyState.tsx";
import { Icon } from "../ui/Icon.tsx";
import { PageHeader } from "../ui/PageHeader.tsx";
import { Panel } from "../ui/Panel.tsx";
import { HeadCell, Table } from "../ui/Table.tsx";
import { movingStatus } from "./backup-facts.ts";
import { ConfigurationRow } from "./ConfigurationRow.tsx";
import type { backupsLoader } from "./loaders.ts";
import { configurationsQuery } from "./queries.ts";

function NewBackupLink({ serverId }: { serverId: number }) {
  return (
    <LinkButton to={paths.newBackupConfiguration(serverId)} variant="primary">
      <Icon name="plus" />
      New backup
    </LinkButton>
  );
}

/** Each configuration, and its last backup; their ids must not meet. */
const moving = (configurations: readonly BackupConfiguration[]) =>
  configurations.flatMap(({ id, status, last_backup: last }) => [
    { id, status },
    ...(last === null ? [] : [{ id: -last.id, status: movingStatus(last) }]),
  ]);

export function BackupsPage() {
  const { serverId, page } = useLoaderData<typeof backupsLoader>();
  const [poll] = useState(() => makePoller());
  const { data: server } = useQuery(serverQuery(serverId));
  const { data: configurations, meta } = useLoaded(configurationsQuery(serverId, page), (list) =>
    poll(moving(list.data)),
  );
  const name = serverName(serverId, server);
  return (
    <>
      <PageHeader
        title="Backups"
        context={[name]}
        crumbs={
          <Crumbs
            items={[
              { label: "Servers", to: paths.home() },
              { label: name, to: paths.backups(serverId) },
            ]}
          />
        }
        actions={<NewBackupLink serverId={serverId} />}
      />
      <Panel>
        {meta.total === 0 ? (
          <EmptyState
            title="Nothing is backed up yet"
            action={<NewBackupLink serverId={serverId} />}
          >
            Choose a database or a site, when to back it up, and where to keep the copies.
            Everything it needs is tried before the first night.
          </EmptyState>
        ) : configurations.length === 0 ? (
          <EmptyState
            title={`Nothing on page ${page}`}
            action={<LinkButton to={paths.backups(serverId)}>First page</LinkButton>}
          />
        ) : (
          <Table label="Backups">
            <thead>
              <tr>
                <HeadCell>Backup</HeadCell>
                <HeadCell from="md">Schedule</HeadCell>
                <HeadCell from="sm">Last run</HeadCell>
                <HeadCell from="sm">Protected</HeadCell>
                <HeadCell align="end">
                  <span className="sr-only">Actions</span>
                </HeadCell>
              </tr>
            </thead>
            <tbody>
              {configurations.map((configuration) => (
                <ConfigurationRow key={configuration.id} configuration={configuration} />
              ))}
            </tbody>
          </Table>
        )}
        <PageLinks meta={meta} pathOf={(to) => paths.backups(serverId, to)} />
      </Panel>
    </>
  );
}
