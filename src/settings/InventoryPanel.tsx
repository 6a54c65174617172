// The link to the inventory, for tokens that may change it.
import { useQuery } from "@tanstack/react-query";
import { LinkButton } from "../app/LinkButton.tsx";
import { paths } from "../paths.ts";
import { Panel } from "../ui/page/Panel.tsx";
import { Properties } from "../ui/page/Properties.tsx";
import { inventoryQuery } from "./inventory/queries.ts";

const counted = (count: number, one: string, many = `${one}s`) =>
  `${count} ${count === 1 ? one : many}`;

/**
 * Renders nothing for a service without an inventory.
 * @param isAllowed whether the current token may see the inventory; otherwise it is not requested
 */
export function InventoryPanel({ isAllowed }: { isAllowed: boolean }) {
  const { data } = useQuery({ ...inventoryQuery(), enabled: isAllowed });
  if (!isAllowed || data === undefined || data === null) return null;
  const contents = [
    counted(data.servers.length, "server"),
    counted(data.sites.length, "site"),
    counted(data.databases.length, "database"),
    counted(data.storage_providers.length, "storage provider"),
    counted(data.notification_channels.length, "channel"),
  ];
  return (
    <Panel
      title="Inventory"
      actions={
        <LinkButton to={paths.inventory()} size="sm">
          Open inventory
        </LinkButton>
      }
    >
      <Properties
        items={[
          { term: "Lists", value: contents.join(", ") },
          ...(data.file === null ? [] : [{ term: "File", value: data.file }]),
        ]}
      />
    </Panel>
  );
}
