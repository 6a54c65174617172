// A server's notifications: who is told what belongs to the server and to none of its sites.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import { listFloorMs, makePoller } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { Crumbs } from "../app/Crumbs.tsx";
import { serverName, serverQuery } from "../app/inventory.ts";
import { ServerTabs } from "../app/ServerTabs.tsx";
import { paths } from "../paths.ts";
import { useStore } from "../store.ts";
import { EmptyState } from "../ui/EmptyState.tsx";
import { PageHeader } from "../ui/PageHeader.tsx";
import { Panel } from "../ui/Panel.tsx";
import { AccountChannels } from "./ChannelLists.tsx";
import { withChanges } from "./choice.ts";
import { channelChoice } from "./choose.ts";
import type { serverNotificationsLoader } from "./loaders.ts";
import { channelsQuery, serverNotificationsQuery } from "./queries.ts";

const told =
  "Selected channels are notified about everything on this server that belongs to no site, such as backups of a database that no site lists.";

export function ServerNotificationsPage() {
  const { serverId } = useLoaderData<typeof serverNotificationsLoader>();
  const [poll] = useState(() => makePoller());
  const { data: server } = useQuery(serverQuery(serverId));
  const used = useLoaded(serverNotificationsQuery(serverId), () => listFloorMs);
  const choice = channelChoice({ kind: "server", id: serverId });
  const unsaved = useStore(choice.unsaved);
  const chosen = new Set(
    withChanges(
      (used?.data ?? []).map(({ id }) => id),
      unsaved,
    ),
  );
  const channels = useLoaded(
    channelsQuery(),
    (list) => list !== null && poll(list.data.flatMap(({ last_message: last }) => last ?? [])),
  );
  const name = serverName(serverId, server);
  return (
    <>
      <PageHeader
        title="Notifications"
        context={[name]}
        crumbs={
          <Crumbs
            items={[
              { label: "Servers", to: paths.home() },
              { label: name, to: paths.backups(serverId) },
            ]}
          />
        }
      />
      <ServerTabs serverId={serverId} current="Notifications" />
      <Panel>
        {used === null || channels === null ? (
          <EmptyState title="No server notifications">
            This service supports notifications for sites only.
          </EmptyState>
        ) : (
          <AccountChannels choice={choice} channels={channels.data} chosen={chosen} told={told} />
        )}
      </Panel>
    </>
  );
}
