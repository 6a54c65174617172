// A server's backup configurations: source, next run, and last run.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import type { ListView } from "../../api/list-query.ts";
import { makePoller } from "../../api/poll.ts";
import { useLoaded } from "../../api/query.ts";
import { serverName, serverQuery } from "../../app/inventory.ts";
import { useTypedSearch } from "../../app/list/typed-search.ts";
import { ListPage } from "../../app/list/ListPage.tsx";
import { ServerTabs } from "../../app/place/ServerTabs.tsx";
import { paths } from "../../paths.ts";
import { movingStatus } from "../backup-facts.ts";
import { ConfigurationTable } from "./ConfigurationTable.tsx";
import type { backupsLoader } from "../loaders.ts";
import { ProtectNotice } from "../protection/ProtectNotice.tsx";
import { configurationsQuery } from "../queries.ts";
import { optionalPart } from "../../app/routing/optional-part.ts";
import { PartMissing } from "../../app/routing/PartMissing.tsx";

/** Each configuration and its last backup, with ids that never collide. */
const moving = (configurations: readonly BackupConfiguration[]) =>
  configurations.flatMap(({ id, status, last_backup: last }) => [
    { id, status },
    ...(last === null ? [] : [{ id: -last.id, status: movingStatus(last) }]),
  ]);

const ConfigurationBulk = optionalPart(
  async () => (await import("./ConfigurationBulk.tsx")).ConfigurationBulk,
  PartMissing,
);

export function BackupsPage() {
  const { serverId, view: opened } = useLoaderData<typeof backupsLoader>();
  const [poll] = useState(() => makePoller());
  const { data: server } = useQuery(serverQuery(serverId));
  const pathOf = (to: ListView) => paths.backups(serverId, to);
  const queryOf = (to: ListView) => configurationsQuery(serverId, to);
  const typing = useTypedSearch(opened, pathOf, queryOf);
  const list = useLoaded(queryOf(typing.view), ({ data }) => poll(moving(data)));
  return (
    <ListPage
      title="Backups"
      place={{ name: serverName(serverId, server), to: paths.backups(serverId) }}
      tabs={<ServerTabs serverId={serverId} current="Backups" />}
      notice={
        server && (
          <ProtectNotice serverId={serverId} server={server.name} timeZone={server.time_zone} />
        )
      }
      create={{ label: "New backup", to: paths.newBackupConfiguration(serverId) }}
      list={list}
      bulk={ConfigurationBulk}
      typing={typing}
      pathOf={pathOf}
      queryOf={queryOf}
      empty={{
        art: "backups",
        title: "No backups yet",
        text: `Choose a database or site, a schedule, and where to store backups.${server === null ? "" : " Quarterdeck tests the setup when you save."}`,
      }}
    >
      <ConfigurationTable configurations={list.data} />
    </ListPage>
  );
}
