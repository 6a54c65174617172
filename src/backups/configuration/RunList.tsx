// The backups of a configuration, page by page and filtered; for a service without that list, those inside the
// configuration.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import type { ListView } from "../../api/list-query.ts";
import { makePoller } from "../../api/poll.ts";
import { ListBar } from "../../app/list/ListBar.tsx";
import { NoRows } from "../../app/list/NoRows.tsx";
import { useTypedSearch } from "../../app/list/typed-search.ts";
import { PageLinks } from "../../app/PageLinks.tsx";
import { paths } from "../../paths.ts";
import { EmptyState } from "../../ui/feedback/EmptyState.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { toMoving } from "../backup-facts.ts";
import { backupsQuery, usualRunSort } from "../queries.ts";
import { RunTable } from "./RunTable.tsx";

type RunListProps = {
  configuration: BackupConfiguration;
  view: ListView & { page: number };
  /** False once the configuration is deleted: requests would get a 404. */
  isLive: boolean;
};

export function RunList({ configuration, view: opened, isLive }: RunListProps) {
  const { id } = configuration;
  // Its own poller, so that transitions elsewhere on the page do not affect its pace.
  const [poll] = useState(() => makePoller());
  const pathOf = (to: ListView) => paths.backupConfiguration(id, to);
  const queryOf = (to: ListView) => backupsQuery(id, to);
  const typing = useTypedSearch(opened, pathOf, queryOf);
  const { view } = typing;
  const { data: list } = useQuery({
    ...queryOf(view),
    enabled: isLive,
    refetchInterval: ({ state }) =>
      state.data !== null && poll((state.data?.data ?? []).map(toMoving)),
  });
  const backups = list?.data ?? configuration.backups;
  return (
    <Panel title="Backups">
      {list && (
        <ListBar
          title="Backups"
          meta={list.meta}
          typing={typing}
          pathOf={pathOf}
          usual={usualRunSort}
        />
      )}
      {backups.length > 0 ? (
        <RunTable backups={backups} configuration={configuration} />
      ) : (
        <NoRows view={view} pathOf={pathOf}>
          <EmptyState title="No backups yet" art="backups">
            The first backup runs on schedule, or now with “Run now”.
          </EmptyState>
        </NoRows>
      )}
      {list && <PageLinks meta={list.meta} pathOf={(page) => pathOf({ ...view, page })} />}
    </Panel>
  );
}
