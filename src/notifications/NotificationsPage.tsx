// A site's notifications: who is told of it, what each was told last, and whether telling works.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import type { Notification } from "../../contract/notifications/notification.ts";
import { listFloorMs, makePoller } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { Crumbs } from "../app/Crumbs.tsx";
import { siteName, siteQuery } from "../app/inventory.ts";
import { SiteTabs } from "../app/SiteTabs.tsx";
import { paths } from "../paths.ts";
import { useStore } from "../store.ts";
import { EmptyState } from "../ui/EmptyState.tsx";
import { PageHeader } from "../ui/PageHeader.tsx";
import { Panel } from "../ui/Panel.tsx";
import { AddChannelForm } from "./AddChannelForm.tsx";
import { toldEvents, withSeen } from "./channel-facts.ts";
import { AccountChannels, ChannelList, type ListProps } from "./ChannelLists.tsx";
import { withChanges } from "./choice.ts";
import { channelChoice } from "./choose.ts";
import type { notificationsLoader } from "./loaders.ts";
import { channelsQuery, notificationsQuery } from "./queries.ts";

/** Of another service only this is known. */
const toldElsewhere = "Selected channels are notified when this site is deployed.";
const toldHere = `Selected channels are notified about this site and its databases: ${new Intl.ListFormat("en").format(toldEvents)}.`;

/** The site's own channels, where the account's are not known. One that is unchecked stays until the page is left. */
function SiteChannels({
  used,
  ...list
}: Omit<ListProps, "channels" | "told"> & { used: readonly Notification[] }) {
  const [seen, setSeen] = useState(used);
  const channels = withSeen(seen, used);
  // While rendering, as React has it for what follows from what came: no paint shows the state between.
  if (channels !== seen) setSeen(channels);
  if (channels.length === 0)
    return (
      <EmptyState title="No notification channels">
        No channel is notified about this site yet.
      </EmptyState>
    );
  return <ChannelList channels={channels} told={toldElsewhere} {...list} />;
}

export function NotificationsPage() {
  const { siteId } = useLoaderData<typeof notificationsLoader>();
  const [poll] = useState(() => makePoller());
  const { data: site } = useQuery(siteQuery(siteId));
  // Both here: a part that read one of them alone would show, for a moment, neither the change nor its answer.
  const used = useLoaded(notificationsQuery(siteId), () => listFloorMs).data;
  const choice = channelChoice({ kind: "site", id: siteId });
  const unsaved = useStore(choice.unsaved);
  const ids = used.map(({ id }) => id);
  const chosen = new Set(withChanges(ids, unsaved));
  const channels = useLoaded(
    channelsQuery(),
    (list) => list !== null && poll(list.data.flatMap(({ last_message: last }) => last ?? [])),
  );
  const name = siteName(siteId, site);
  return (
    <>
      <PageHeader
        title="Notifications"
        context={[name]}
        crumbs={
          <Crumbs
            items={[
              { label: "Servers", to: paths.home() },
              { label: name, to: paths.workers(siteId) },
            ]}
          />
        }
      />
      <SiteTabs siteId={siteId} current="Notifications" />
      <Panel>
        {channels === null ? (
          <SiteChannels key={siteId} choice={choice} used={used} chosen={chosen} />
        ) : (
          <AccountChannels
            choice={choice}
            channels={channels.data}
            chosen={chosen}
            told={toldHere}
          />
        )}
      </Panel>
      {channels === null && <AddChannelForm key={siteId} siteId={siteId} />}
    </>
  );
}
