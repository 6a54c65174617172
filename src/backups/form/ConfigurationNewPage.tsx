import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData, useLocation } from "react-router";
import type { CreateBackupConfigurationBody } from "../../../contract/backups/bodies.ts";
import { call } from "../../api/client.ts";
import { mutate } from "../../api/mutate.ts";
import { cacheParent } from "../../api/parent-cache.ts";
import { invalidate, queryClient } from "../../api/query.ts";
import { serverName, serverQuery } from "../../app/inventory.ts";
import { paths } from "../../paths.ts";
import { hasExtras } from "../backup-facts.ts";
import { useChoices } from "./choices.ts";
import { newValues } from "./configuration-form.ts";
import { ConfigurationForm } from "./ConfigurationForm.tsx";
import type { newConfigurationLoader } from "../loaders.ts";
import { configurationQuery } from "../queries.ts";

async function createConfiguration(serverId: number, body: CreateBackupConfigurationBody) {
  const configuration = await mutate(
    { mutationFn: () => call("createBackupConfiguration", { id: serverId }, { body }) },
    undefined,
  );
  const { id, name } = configuration;
  cacheParent("listBackupConfigurations", id, serverId);
  await invalidate("listBackupConfigurations");
  queryClient.setQueryData(configurationQuery(id).queryKey, configuration);
  return {
    to: paths.backupConfiguration(id),
    text: `“${name}” created.${hasExtras(configuration) ? " Testing connection…" : ""}`,
  };
}

export function ConfigurationNewPage() {
  const { search } = useLocation();
  // Keyed, because another source is a new form.
  return <NewConfiguration key={search} search={search} />;
}

function NewConfiguration({ search }: { search: string }) {
  const { serverId } = useLoaderData<typeof newConfigurationLoader>();
  const { data: server } = useQuery(serverQuery(serverId));
  const name = serverName(serverId, server);
  const choices = useChoices(serverId);
  // A refetched list must not change the form while it is being filled in.
  const [defaultValues] = useState(() => newValues(new URLSearchParams(search), choices));
  return (
    <ConfigurationForm
      title="New backup"
      context={[name]}
      crumbs={[
        { label: "Overview", to: paths.home() },
        { label: `${name} backups`, to: paths.backups(serverId) },
      ]}
      configuration={null}
      choices={choices}
      timeZone={server?.time_zone ?? null}
      defaultValues={defaultValues}
      save={(body) => createConfiguration(serverId, body)}
      submit={["Create backup", "Creating…"]}
      cancelTo={paths.backups(serverId)}
    />
  );
}
