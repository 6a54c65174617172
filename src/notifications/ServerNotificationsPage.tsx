// A server's notifications: the channels for events that belong to the server, but to none of its sites.
import { useQuery } from "@tanstack/react-query";
import { useLoaderData } from "react-router";
import { listFloorMs } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { serverName, serverQuery } from "../app/inventory.ts";
import { PlaceHeader } from "../app/place/PlaceHeader.tsx";
import { ServerTabs } from "../app/place/ServerTabs.tsx";
import { paths } from "../paths.ts";
import { EmptyState } from "../ui/feedback/EmptyState.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { AccountChannels } from "./ChannelLists.tsx";
import type { serverNotificationsLoader } from "./loaders.ts";
import { serverNotificationsQuery } from "./queries.ts";
import { useChannels } from "./use-channels.ts";

const intro =
  "Selected channels are notified about everything on this server that belongs to no site, such as backups of a database that no site lists.";

export function ServerNotificationsPage() {
  const { serverId } = useLoaderData<typeof serverNotificationsLoader>();
  const { data: server } = useQuery(serverQuery(serverId));
  const used = useLoaded(serverNotificationsQuery(serverId), () => listFloorMs);
  const { channels, ...list } = useChannels({ kind: "server", id: serverId }, used?.data ?? []);
  return (
    <>
      <PlaceHeader
        title="Notifications"
        place={{ name: serverName(serverId, server), to: paths.backups(serverId) }}
      />
      <ServerTabs serverId={serverId} current="Notifications" />
      <Panel>
        {used === null || channels === null ? (
          <EmptyState title="No server notifications" art="notifications">
            This service supports notifications for sites only.
          </EmptyState>
        ) : (
          <AccountChannels channels={channels} intro={intro} {...list} />
        )}
      </Panel>
    </>
  );
}
