// A site's notifications: its channels, the last message of each, and a test.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import type { Notification } from "../../contract/notifications/notification.ts";
import { listFloorMs } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { siteName, siteQuery } from "../app/inventory.ts";
import { PlaceHeader } from "../app/place/PlaceHeader.tsx";
import { SiteTabs } from "../app/place/SiteTabs.tsx";
import { paths } from "../paths.ts";
import { EmptyState } from "../ui/feedback/EmptyState.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { AddChannelForm } from "./AddChannelForm.tsx";
import { withSeen } from "./channel-facts.ts";
import { AccountChannels, ChannelList, type ListProps } from "./ChannelLists.tsx";
import type { notificationsLoader } from "./loaders.ts";
import { notificationsQuery } from "./queries.ts";
import { useChannels } from "./use-channels.ts";

/** All that is known about another service. */
const introElsewhere = "Selected channels are notified when this site is deployed.";
const introHere =
  "Selected channels are notified about this site and its databases: backups, workers, webhooks, deployments, and the server.";

/**
 * The site's own channels, for a service that does not list the account's. Unchecked ones stay until the page is left.
 */
function SiteChannels({
  used,
  ...list
}: Omit<ListProps, "channels" | "intro"> & { used: readonly Notification[] }) {
  const [seen, setSeen] = useState(used);
  const channels = withSeen(seen, used);
  // During rendering, as React recommends for derived state, so that the previous state is never painted.
  if (channels !== seen) setSeen(channels);
  if (channels.length === 0)
    return (
      <EmptyState title="No notification channels" art="notifications">
        No channel is notified about this site yet.
      </EmptyState>
    );
  return <ChannelList channels={channels} intro={introElsewhere} {...list} />;
}

export function NotificationsPage() {
  const { siteId } = useLoaderData<typeof notificationsLoader>();
  const { data: site } = useQuery(siteQuery(siteId));
  const used = useLoaded(notificationsQuery(siteId), () => listFloorMs).data;
  const { channels, ...list } = useChannels({ kind: "site", id: siteId }, used);
  return (
    <>
      <PlaceHeader
        title="Notifications"
        place={{ name: siteName(siteId, site), to: paths.workers(siteId) }}
      />
      <SiteTabs siteId={siteId} current="Notifications" />
      <Panel>
        {channels === null ? (
          <SiteChannels used={used} {...list} />
        ) : (
          <AccountChannels channels={channels} intro={introHere} {...list} />
        )}
      </Panel>
      {channels === null && <AddChannelForm siteId={siteId} />}
    </>
  );
}
