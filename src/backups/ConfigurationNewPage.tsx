import { useMutation, useQuery } from "@tanstack/react-query";
import { useLoaderData, useNavigate, useSearchParams } from "react-router";
import type { CreateBackupConfigurationBody } from "../../contract/backups/backup.ts";
import { cacheParent } from "../api/parent-cache.ts";
import { call } from "../api/client.ts";
import { invalidate, queryClient } from "../api/query.ts";
import { Crumbs } from "../app/Crumbs.tsx";
import { serverName, serverQuery } from "../app/inventory.ts";
import { savedState } from "../app/LeaveGuard.tsx";
import { LinkButton } from "../app/LinkButton.tsx";
import { toast } from "../app/toasts.ts";
import { paths } from "../paths.ts";
import { PageHeader } from "../ui/PageHeader.tsx";
import { hasExtras } from "./backup-facts.ts";
import { useChoices } from "./choices.ts";
import { newValues } from "./configuration-form.ts";
import { ConfigurationForm } from "./ConfigurationForm.tsx";
import type { newConfigurationLoader } from "./loaders.ts";
import { configurationQuery } from "./queries.ts";

export function ConfigurationNewPage() {
  const { serverId } = useLoaderData<typeof newConfigurationLoader>();
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const { data: server } = useQuery(serverQuery(serverId));
  const choices = useChoices(serverId);
  const { mutateAsync, isPending } = useMutation({
    mutationFn: (body: CreateBackupConfigurationBody) =>
      call("createBackupConfiguration", { id: serverId }, { body }),
  });

  const create = async (body: CreateBackupConfigurationBody) => {
    const configuration = await mutateAsync(body);
    cacheParent("listBackupConfigurations", configuration.id, serverId);
    await invalidate("listBackupConfigurations");
    queryClient.setQueryData(configurationQuery(configuration.id).queryKey, configuration);
    await navigate(paths.backupConfiguration(configuration.id), { state: savedState });
    toast.success(
      `“${configuration.name}” created.${hasExtras(configuration) ? " Testing connection…" : ""}`,
    );
  };

  const name = serverName(serverId, server);
  return (
    <>
      <PageHeader
        title="New backup"
        context={[name]}
        crumbs={
          <Crumbs
            items={[
              { label: "Servers", to: paths.home() },
              { label: `${name} backups`, to: paths.backups(serverId) },
            ]}
          />
        }
      />
      <ConfigurationForm
        configuration={null}
        defaultValues={newValues(search)}
        choices={choices}
        timeZone={server?.time_zone ?? null}
        isPending={isPending}
        onSave={create}
        cancel={<LinkButton to={paths.backups(serverId)}>Cancel</LinkButton>}
      />
    </>
  );
}
