import { useQuery } from "@tanstack/react-query";
import { paths } from "../../paths.ts";
import { serverQuery } from "../inventory.ts";
import { PlaceTabs } from "./PlaceTabs.tsx";

/** A service that does not list its servers has no notifications of servers, either. */
export function ServerTabs({
  serverId,
  current,
}: {
  serverId: number;
  current: "Backups" | "Notifications" | "Server";
}) {
  const { data: server } = useQuery(serverQuery(serverId));
  if (server === null) return null;
  const tabs = [
    { label: "Backups", to: paths.backups(serverId) },
    { label: "Notifications", to: paths.serverNotifications(serverId) },
    { label: "Server", to: paths.server(serverId) },
  ];
  return <PlaceTabs label="Server" tabs={tabs} current={current} />;
}
