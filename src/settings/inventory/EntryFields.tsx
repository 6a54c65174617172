import { useController, useWatch } from "react-hook-form";
import type { InventoryKind } from "../../../contract/inventory/entries.ts";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import { Checkbox } from "../../ui/form/Checkbox.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { FieldGroup } from "../../ui/form/FieldGroup.tsx";
import type { EntryValues } from "./entry-form.ts";
import {
  NameField,
  SelectField,
  ServerField,
  TextField,
  TypeField,
  useFieldError,
} from "./fields.tsx";
import { HookFields } from "./HookFields.tsx";
import { SecretField } from "./SecretField.tsx";
import { ServerFields } from "./ServerFields.tsx";
import { StorageFields } from "./StorageFields.tsx";

type FieldsProps = { inventory: InventoryFile };

const userHelp = "Account on the server. Leave empty for the folder's owner.";

/** Databases on the site's server; the site's webhooks include their backups. */
function DatabasesField({ inventory }: FieldsProps) {
  const { field } = useController<EntryValues>({ name: "databases" });
  const error = useFieldError("databases");
  const server = useWatch<EntryValues>({ name: "server" });
  const chosen: unknown[] = Array.isArray(field.value) ? field.value : [];
  const offered = inventory.databases.filter(
    (database) => database.server === Number(server) || chosen.includes(database.id),
  );
  if (offered.length === 0) return null;
  return (
    <fieldset className="sm:col-span-2">
      <legend className="mb-1 font-medium">Databases of the site</legend>
      <div className="grid gap-x-6 gap-y-1 sm:grid-cols-2">
        {offered.map(({ id, name }) => (
          <Field key={id} label={name} layout="beside">
            {(aria) => (
              <Checkbox
                {...aria}
                checked={chosen.includes(id)}
                onChange={({ target }) =>
                  field.onChange(
                    target.checked ? [...chosen, id] : chosen.filter((other) => other !== id),
                  )
                }
              />
            )}
          </Field>
        ))}
      </div>
      {error !== undefined && (
        <p role="alert" className="mt-1.5 text-sm text-bad">
          {error}
        </p>
      )}
    </fieldset>
  );
}

const SiteFields = ({ inventory }: FieldsProps) => (
  <FieldGroup title="Site">
    <NameField placeholder="shop.example.com" />
    <ServerField servers={inventory.servers} />
    <TextField
      name="root"
      label="Folder"
      placeholder="/srv/shop"
      isCode
      emptyText="Enter the folder's path."
      help="The folder that contains artisan."
    />
    <TextField name="user" label="User" placeholder="shop" isCode help={userHelp} />
    <TextField
      name="artisan"
      label="Artisan command"
      placeholder="php artisan"
      isCode
      help="Runs in the site's folder, before queue:work."
    />
    <DatabasesField inventory={inventory} />
    <HookFields place="in the site's folder, as its user" />
  </FieldGroup>
);

const engines = [
  { value: "postgres", label: "PostgreSQL" },
  { value: "mysql", label: "MySQL or MariaDB" },
  { value: "sqlite", label: "SQLite" },
] as const;

function DatabaseFields({ inventory }: FieldsProps) {
  const engine = useWatch<EntryValues>({ name: "engine" });
  return (
    <FieldGroup title="Database">
      <NameField placeholder="shop" />
      <ServerField servers={inventory.servers} />
      <TypeField name="engine" legend="Engine" options={engines} />
      {engine === "sqlite" ? (
        <>
          <TextField
            name="path"
            label="File"
            placeholder="/srv/shop/database.sqlite"
            isCode
            emptyText="Enter the file's path."
          />
          <TextField
            name="user"
            label="User"
            isCode
            help="Leave empty for the account of the sites that use the database, or the file's owner."
          />
        </>
      ) : (
        <SecretField
          // Another engine needs another URL.
          key={String(engine)}
          name="url"
          label="URL"
          emptyText="Enter the database's URL."
          placeholder={`${engine === "mysql" ? "mysql" : "postgres"}://user:password@localhost/shop`}
          help={`As the server reaches it: ${engine === "mysql" ? "mysql" : "postgres"}://user:password@host/name.`}
        />
      )}
      {engine !== "sqlite" && (
        <SelectField
          name="scope"
          label="Scope"
          options={[
            ["", "The database in the URL"],
            ["server", "All databases of the server"],
          ]}
          help={
            engine === "mysql"
              ? "All databases of the server make one backup, with its accounts. A restore of all exchanges their tables in one step; views, routines, triggers and events follow within seconds."
              : "All databases of the server make one backup, with its roles."
          }
        />
      )}
      {engine === "sqlite" ? (
        <HookFields place="on the server, as the file's user" />
      ) : (
        <HookFields place="on the server, as the user of these commands">
          <TextField
            name="backup_hooks.user"
            label="User of these commands"
            placeholder="shop"
            isCode
            help="Account on the server. Leave empty for the user of the site that lists the database."
          />
        </HookFields>
      )}
    </FieldGroup>
  );
}

const channelTypes = [
  { value: "slack", label: "Slack" },
  { value: "discord", label: "Discord" },
  { value: "email", label: "Email" },
] as const;

function ChannelFields() {
  const type = useWatch<EntryValues>({ name: "type" });
  const provider = type === "discord" ? "Discord" : "Slack";
  return (
    <FieldGroup title="Notification channel">
      <NameField placeholder="ops" />
      <TypeField name="type" legend="Type" options={channelTypes} />
      {type === "email" ? (
        <TextField
          name="email"
          label="Email address"
          placeholder="oncall@example.com"
          emptyText="Enter an email address."
          help="Quarterdeck needs a mail server to send email: SMTP_URL."
        />
      ) : (
        <SecretField
          key={provider}
          name="webhook"
          label="Webhook URL"
          emptyText={`Enter the URL of an incoming webhook of ${provider}.`}
          help={`Create an incoming webhook in ${provider} and copy its URL.`}
        />
      )}
    </FieldGroup>
  );
}

export function EntryFields({ kind, inventory }: { kind: InventoryKind } & FieldsProps) {
  switch (kind) {
    case "servers":
      return <ServerFields inventory={inventory} />;
    case "sites":
      return <SiteFields inventory={inventory} />;
    case "databases":
      return <DatabaseFields inventory={inventory} />;
    case "storage_providers":
      return <StorageFields inventory={inventory} />;
    case "notification_channels":
      return <ChannelFields />;
  }
}
