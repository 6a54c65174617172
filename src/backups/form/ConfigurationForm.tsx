// The form of a backup configuration, new or existing.
import type { ComponentProps } from "react";
import * as z from "zod/mini";
import { type BackupConfiguration, defaultHold } from "../../../contract/backups/backup.ts";
import {
  createBackupConfigurationBody,
  type CreateBackupConfigurationBody,
} from "../../../contract/backups/bodies.ts";
import { id } from "../../../contract/values.ts";
import { FormPage } from "../../app/form/FormPage.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { DocsLink } from "../../ui/text/DocsLink.tsx";
import { hasExtras, usualSize } from "../backup-facts.ts";
import type { Choices } from "./choices.ts";
import type { ConfigurationFormValues } from "./configuration-form.ts";
import { ConfigurationFields } from "./ConfigurationFields.tsx";
import { NextRunsPanel } from "../configuration/NextRunsPanel.tsx";

// Ids of another service may be larger than ours.
const formSchema = z.extend(createBackupConfigurationBody, {
  storage_provider_id: id,
  backupable_id: id,
});

type ConfigurationFormProps = Pick<
  ComponentProps<typeof FormPage<ConfigurationFormValues, CreateBackupConfigurationBody>>,
  "title" | "context" | "crumbs" | "defaultValues" | "save" | "submit" | "cancelTo"
> & {
  /** Null for a new configuration. */
  configuration: BackupConfiguration | null;
  choices: Choices;
  /** IANA name; null where the service does not return it. */
  timeZone: string | null;
};

export function ConfigurationForm({
  configuration,
  choices,
  timeZone,
  ...page
}: ConfigurationFormProps) {
  // A service that lists its storages is Quarterdeck's; others support only the fields of the interface.
  const isOurs = configuration === null ? choices.providers !== null : hasExtras(configuration);
  return (
    <FormPage
      {...page}
      schema={formSchema}
      leaveQuestion="Leave without saving the backup?"
      notice={
        configuration?.adopted_at && (
          <Notice tone="warn">
            <p>
              Saving starts the schedule. After each run, retention then deletes backups beyond
              “Keep last”, also those that are here now.
            </p>
          </Notice>
        )
      }
      preview={
        <>
          {/* In a change, an empty field keeps the stored value. */}
          <NextRunsPanel
            heldByDefault={configuration?.hold ?? defaultHold}
            timeZone={timeZone}
            usualBytes={usualSize(configuration?.backups ?? [])}
            configuration={isOurs ? configuration : null}
          />
          {isOurs && <DocsLink page="backups">How backups work</DocsLink>}
        </>
      }
    >
      <ConfigurationFields
        configuration={configuration}
        choices={choices}
        timeZone={timeZone}
        isOurs={isOurs}
      />
    </FormPage>
  );
}
