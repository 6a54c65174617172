import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData, useNavigate } from "react-router";
import type { CreateBackupConfigurationBody } from "../../contract/backups/backup.ts";
import { call } from "../api/client.ts";
import { invalidate, queryClient, useLoaded } from "../api/query.ts";
import { Crumbs } from "../app/Crumbs.tsx";
import { serverName, serverQuery } from "../app/inventory.ts";
import { savedState } from "../app/LeaveGuard.tsx";
import { LinkButton } from "../app/LinkButton.tsx";
import { toast } from "../app/toasts.ts";
import { paths } from "../paths.ts";
import { PageHeader } from "../ui/PageHeader.tsx";
import { hasExtras } from "./backup-facts.ts";
import { useChoices } from "./choices.ts";
import { toValues } from "./configuration-form.ts";
import { ConfigurationForm } from "./ConfigurationForm.tsx";
import type { editConfigurationLoader } from "./loaders.ts";
import { configurationQuery } from "./queries.ts";

export function ConfigurationEditPage() {
  const { id, serverId } = useLoaderData<typeof editConfigurationLoader>();
  const navigate = useNavigate();
  const configuration = useLoaded(configurationQuery(id));
  // What is being filled in must not change under the hands of who does it.
  const [defaultValues] = useState(() => toValues(configuration));
  const { data: server } = useQuery({ ...serverQuery(serverId ?? 0), enabled: serverId !== null });
  const choices = useChoices(serverId);
  const { mutateAsync, isPending } = useMutation({
    mutationFn: ({
      backupable_type: _type,
      backupable_id: _id,
      ...body
    }: CreateBackupConfigurationBody) => call("updateBackupConfiguration", { id }, { body }),
  });

  const save = async (body: CreateBackupConfigurationBody) => {
    const changed = await mutateAsync(body);
    await invalidate("listBackupConfigurations", "showBackupSchedule");
    queryClient.setQueryData(configurationQuery(id).queryKey, changed);
    await navigate(paths.backupConfiguration(id), { state: savedState });
    toast.success(`“${changed.name}” saved.${hasExtras(changed) ? " Testing connection…" : ""}`);
  };

  return (
    <>
      <PageHeader
        title={`Edit ${configuration.name}`}
        context={server ? [server.name] : []}
        crumbs={
          <Crumbs
            items={[
              { label: "Servers", to: paths.home() },
              ...(serverId === null
                ? []
                : [
                    {
                      label: `${serverName(serverId, server)} backups`,
                      to: paths.backups(serverId),
                    },
                  ]),
              { label: configuration.name, to: paths.backupConfiguration(id) },
            ]}
          />
        }
      />
      <ConfigurationForm
        configuration={configuration}
        defaultValues={defaultValues}
        choices={choices}
        timeZone={server?.time_zone ?? null}
        isPending={isPending}
        onSave={save}
        cancel={<LinkButton to={paths.backupConfiguration(id)}>Cancel</LinkButton>}
      />
    </>
  );
}
