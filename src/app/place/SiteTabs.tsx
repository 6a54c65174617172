import { paths } from "../../paths.ts";
import { PlaceTabs } from "./PlaceTabs.tsx";

export function SiteTabs({
  siteId,
  current,
}: {
  siteId: number;
  current: "Workers" | "Webhooks" | "Notifications";
}) {
  const tabs = [
    { label: "Workers", to: paths.workers(siteId) },
    { label: "Webhooks", to: paths.webhooks(siteId) },
    { label: "Notifications", to: paths.notifications(siteId) },
  ];
  return <PlaceTabs label="Site" tabs={tabs} current={current} />;
}
