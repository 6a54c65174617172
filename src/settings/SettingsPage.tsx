// The settings: tokens, appearance, and this device.
import { useQuery } from "@tanstack/react-query";
import { useLoaderData } from "react-router";
import { useStore } from "../store.ts";
import { ChoiceList } from "../ui/form/ChoiceList.tsx";
import { PageHeader } from "../ui/page/PageHeader.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { appearance, type Scheme, schemes } from "../app/shell/appearance.ts";
import { CheckPanel } from "./CheckPanel.tsx";
import { DevicePanel } from "./DevicePanel.tsx";
import { InventoryPanel } from "./InventoryPanel.tsx";
import { InstallationPanel } from "./InstallationPanel.tsx";
import type { settingsLoader } from "./loaders.ts";
import { isList, tokensQuery } from "./queries.ts";
import { TokensPanel } from "./TokensPanel.tsx";

const labels: Record<Scheme, string> = {
  system: "System",
  light: "Light",
  dark: "Dark",
};
const options = schemes.map((value) => ({ value, label: labels[value] }));

function AppearancePanel() {
  const scheme = useStore(appearance.scheme);
  return (
    <Panel title="Appearance">
      <div className="px-4 py-4 max-sm:px-3">
        <ChoiceList legend="Theme" options={options} value={scheme} onChange={appearance.choose} />
      </div>
    </Panel>
  );
}

export function SettingsPage() {
  const { page } = useLoaderData<typeof settingsLoader>();
  // Tokens that may manage tokens may see the inventory, and no others.
  const { data: tokens } = useQuery(tokensQuery(page));
  return (
    <>
      <PageHeader title="Settings" />
      <TokensPanel page={page} />
      <InventoryPanel isAllowed={isList(tokens)} />
      <InstallationPanel />
      <CheckPanel isAllowed={isList(tokens)} />
      <AppearancePanel />
      <DevicePanel />
    </>
  );
}
