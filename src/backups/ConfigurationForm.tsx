// The page of a backup configuration's form, new or changed.
import type { ComponentProps } from "react";
import * as z from "zod/mini";
import { type BackupConfiguration, defaultHold } from "../../contract/backups/backup.ts";
import {
  createBackupConfigurationBody,
  type CreateBackupConfigurationBody,
} from "../../contract/backups/bodies.ts";
import { id } from "../../contract/values.ts";
import { FormPage } from "../app/FormPage.tsx";
import { Notice } from "../ui/Notice.tsx";
import { DocsLink } from "../ui/DocsLink.tsx";
import { hasExtras, usualSize } from "./backup-facts.ts";
import type { Choices } from "./choices.ts";
import type { ConfigurationFormValues } from "./configuration-form.ts";
import { ConfigurationFields } from "./ConfigurationFields.tsx";
import { NextRunsPanel } from "./NextRunsPanel.tsx";

// Another service may have larger ids than ours.
const formSchema = z.extend(createBackupConfigurationBody, {
  storage_provider_id: id,
  backupable_id: id,
});

type ConfigurationFormProps = Pick<
  ComponentProps<typeof FormPage<ConfigurationFormValues, CreateBackupConfigurationBody>>,
  "title" | "context" | "crumbs" | "defaultValues" | "save" | "submit" | "cancelTo"
> & {
  /** Null for a new one. */
  configuration: BackupConfiguration | null;
  choices: Choices;
  /** IANA name; null where the service does not say. */
  timeZone: string | null;
};

export function ConfigurationForm({
  configuration,
  choices,
  timeZone,
  ...page
}: ConfigurationFormProps) {
  // A service that lists its places is ours; of another one only the interface's own fields are known.
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
          {/* Left empty, a change keeps what is stored. */}
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
