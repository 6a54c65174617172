// Who may talk to the service, how the dashboard looks, and what this device keeps.
import { useLoaderData } from "react-router";
import { PageHeader } from "../ui/PageHeader.tsx";
import { AppearancePanel } from "./AppearancePanel.tsx";
import { DevicePanel } from "./DevicePanel.tsx";
import { InstallationPanel } from "./InstallationPanel.tsx";
import type { settingsLoader } from "./loaders.ts";
import { TokensPanel } from "./TokensPanel.tsx";

export function SettingsPage() {
  const { page } = useLoaderData<typeof settingsLoader>();
  return (
    <>
      <PageHeader title="Settings" />
      <TokensPanel page={page} />
      <InstallationPanel />
      <AppearancePanel />
      <DevicePanel />
    </>
  );
}
