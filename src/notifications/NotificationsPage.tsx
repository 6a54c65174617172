// A site's notifications: who is told of it, what each was told last, and whether telling works.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import type {
  Notification,
  NotificationChannel,
} from "../../contract/notifications/notification.ts";
import { listFloorMs, makePoller } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { Crumbs } from "../app/Crumbs.tsx";
import { siteName, siteQuery } from "../app/inventory.ts";
import { SiteTabs } from "../app/SiteTabs.tsx";
import { paths } from "../paths.ts";
import { useStore } from "../store.ts";
import { EmptyState } from "../ui/EmptyState.tsx";
import { Icon } from "../ui/Icon.tsx";
import { PageHeader } from "../ui/PageHeader.tsx";
import { Panel } from "../ui/Panel.tsx";
import { AddChannelForm } from "./AddChannelForm.tsx";
import { toldEvents, withSeen } from "./channel-facts.ts";
import { ChannelRow } from "./ChannelRow.tsx";
import { withChanges } from "./choice.ts";
import { siteChoice } from "./choose.ts";
import { InventoryHelp } from "./InventoryHelp.tsx";
import type { notificationsLoader } from "./loaders.ts";
import { channelsQuery, notificationsQuery } from "./queries.ts";

type ListProps = {
  siteId: number;
  channels: readonly (NotificationChannel | Notification)[];
  chosen: ReadonlySet<number>;
};

/** Of another service only this is known. */
const toldElsewhere = "A checked channel is told when this site is deployed.";
const toldHere = `A checked channel is told of this site and its databases: ${new Intl.ListFormat("en").format(toldEvents)}.`;

function ChannelList({ siteId, channels, chosen, told }: ListProps & { told: string }) {
  return (
    <>
      <p className="border-b border-line bg-sunken px-4 py-2.5 text-sm text-muted max-sm:px-3">
        {told}
      </p>
      <ul aria-label="Notification channels">
        {channels.map((channel) => (
          <ChannelRow
            key={channel.id}
            siteId={siteId}
            channel={channel}
            isChosen={chosen.has(channel.id)}
          />
        ))}
      </ul>
    </>
  );
}

/** Every channel of the account, checked or not. */
function AccountChannels({ channels, ...list }: ListProps) {
  if (channels.length === 0)
    return (
      <>
        <EmptyState title="No notification channels">
          A channel is told when a backup fails, a worker gives up or a deployment is through. Add
          one to the inventory, and it can be chosen here.
        </EmptyState>
        <div className="-mt-6 grid justify-items-center px-4 pb-10 max-sm:px-3">
          <InventoryHelp />
        </div>
      </>
    );
  return (
    <>
      <ChannelList channels={channels} told={toldHere} {...list} />
      <details className="group border-t border-line">
        <summary className="flex min-h-11 list-none items-center gap-3 px-4 py-2 text-sm text-muted -outline-offset-2 hover:bg-hover max-sm:px-3">
          How to add a channel
          <span className="ms-auto group-open:rotate-180">
            <Icon name="down" />
          </span>
        </summary>
        <div className="px-4 pt-1 pb-4 text-sm max-sm:px-3">
          <InventoryHelp />
        </div>
      </details>
    </>
  );
}

/** The site's own channels, where the account's are not known. One that is unchecked stays until the page is left. */
function SiteChannels({
  used,
  ...list
}: Omit<ListProps, "channels"> & { used: readonly Notification[] }) {
  const [seen, setSeen] = useState(used);
  const channels = withSeen(seen, used);
  // While rendering, as React has it for what follows from what came: no paint shows the state between.
  if (channels !== seen) setSeen(channels);
  if (channels.length === 0)
    return (
      <EmptyState title="No notification channels">Nobody is told of this site yet.</EmptyState>
    );
  return <ChannelList channels={channels} told={toldElsewhere} {...list} />;
}

export function NotificationsPage() {
  const { siteId } = useLoaderData<typeof notificationsLoader>();
  const [poll] = useState(() => makePoller());
  const { data: site } = useQuery(siteQuery(siteId));
  // Both here: a part that read one of them alone would show, for a moment, neither the change nor its answer.
  const used = useLoaded(notificationsQuery(siteId), () => listFloorMs).data;
  const unsaved = useStore(siteChoice(siteId).unsaved);
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
          <SiteChannels key={siteId} siteId={siteId} used={used} chosen={chosen} />
        ) : (
          <AccountChannels siteId={siteId} channels={channels.data} chosen={chosen} />
        )}
      </Panel>
      {channels === null && <AddChannelForm key={siteId} siteId={siteId} />}
    </>
  );
}
