import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import type { CreateBackupConfigurationBody } from "../../../contract/backups/bodies.ts";
import { call } from "../../api/client.ts";
import { mutate } from "../../api/mutate.ts";
import { invalidate, queryClient, useLoaded } from "../../api/query.ts";
import { changesIn } from "../../app/form/form-values.ts";
import { serverName, serverQuery } from "../../app/inventory.ts";
import { paths } from "../../paths.ts";
import { hasExtras } from "../backup-facts.ts";
import { useChoices } from "./choices.ts";
import { type ConfigurationFormValues, toValues } from "./configuration-form.ts";
import { ConfigurationForm } from "./ConfigurationForm.tsx";
import type { editConfigurationLoader } from "../loaders.ts";
import { configurationQuery } from "../queries.ts";

/**
 * Sends all fields, as the interface requires. Fields that were not changed here get their present values, because they
 * may have been changed elsewhere since the form was opened.
 */
async function saveConfiguration(
  id: number,
  { backupable_type: _type, backupable_id: _id, ...filled }: CreateBackupConfigurationBody,
  before: ConfigurationFormValues,
) {
  const {
    backupable_type: _itsType,
    backupable_id: _itsId,
    ...now
  } = toValues(
    await queryClient.fetchQuery({ ...configurationQuery(id), staleTime: 0, retry: false }),
  );
  const body = { ...filled, ...now, ...changesIn(filled, before) };
  const changed = await mutate(
    { mutationFn: () => call("updateBackupConfiguration", { id }, { body }) },
    undefined,
  );
  await invalidate("listBackupConfigurations", "showBackupSchedule");
  queryClient.setQueryData(configurationQuery(id).queryKey, changed);
  return {
    to: paths.backupConfiguration(id),
    text: `“${changed.name}” saved.${hasExtras(changed) ? " Testing connection…" : ""}`,
  };
}

export function ConfigurationEditPage() {
  const { id, serverId } = useLoaderData<typeof editConfigurationLoader>();
  const configuration = useLoaded(configurationQuery(id), undefined, true);
  // A poll must not change the form while it is being filled in.
  const [defaultValues] = useState(() => toValues(configuration));
  const { data: server } = useQuery({ ...serverQuery(serverId ?? 0), enabled: serverId !== null });
  const choices = useChoices(serverId);
  const list = serverId !== null && {
    label: `${serverName(serverId, server)} backups`,
    to: paths.backups(serverId),
  };
  return (
    <ConfigurationForm
      title={`Edit ${configuration.name}`}
      context={server ? [server.name] : []}
      crumbs={[
        { label: "Overview", to: paths.home() },
        ...(list ? [list] : []),
        { label: configuration.name, to: paths.backupConfiguration(id) },
      ]}
      configuration={configuration}
      choices={choices}
      timeZone={server?.time_zone ?? null}
      defaultValues={defaultValues}
      save={(body) => saveConfiguration(id, body, defaultValues)}
      submit={["Save changes", "Saving…"]}
      cancelTo={paths.backupConfiguration(id)}
    />
  );
}
