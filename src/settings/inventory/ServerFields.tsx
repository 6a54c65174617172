import { useFormContext, useWatch } from "react-hook-form";
import { ChoiceList } from "../../ui/ChoiceList.tsx";
import { FieldGroup } from "../../ui/FieldGroup.tsx";
import { FoldedFields } from "../../ui/FoldedFields.tsx";
import type { EntryValues } from "./entry-form.ts";
import { SelectField, TextField, useFieldError } from "./fields.tsx";
import { SecretField } from "./SecretField.tsx";

const places = [
  { value: "ssh", label: "Over SSH", help: "Another machine." },
  { value: "local", label: "This machine", help: "Where Quarterdeck runs." },
] as const;

function SshFields() {
  return (
    <FieldGroup title="Login">
      <TextField
        name="connection.ssh.host"
        label="Host"
        placeholder="web-1.example.com"
        isCode
        emptyText="Enter a host name or an address."
      />
      <TextField name="connection.ssh.port" label="Port" placeholder="22" isNumber />
      <TextField
        name="connection.ssh.user"
        label="User"
        placeholder="deploy"
        isCode
        emptyText="Enter the user that logs in."
      />
      <TextField
        name="connection.ssh.host_key"
        label="Host key"
        placeholder="SHA256:…"
        isCode
        help="Fingerprint of the only key that is accepted. Test the connection to see which keys the server offers."
      />
      <SecretField name="connection.ssh.key" label="Key" emptyText="Paste a private key." isKey />
    </FieldGroup>
  );
}

export function ServerFields() {
  const { setValue } = useFormContext<EntryValues>();
  const place = useWatch<EntryValues>({ name: "place" });
  const connection = useWatch<EntryValues>({ name: "connection" });
  const drills = useWatch<EntryValues>({ name: "drills" });
  const hasError =
    [
      useFieldError("time_zone"),
      useFieldError("supervisor"),
      useFieldError("supervisord_config"),
    ].filter((error) => error !== undefined).length > 0;
  const isSsh = place === "ssh";
  const ssh: unknown =
    typeof connection === "object" && connection !== null && "ssh" in connection
      ? connection.ssh
      : {};
  const hidden = [
    ...(drills === undefined ? [] : ["drills"]),
    ...(["jump", "config"] as const).filter(
      (name) => typeof ssh === "object" && ssh !== null && Reflect.get(ssh, name) !== undefined,
    ),
  ];
  return (
    <>
      <FieldGroup title="Server">
        <TextField name="name" label="Name" placeholder="web-1" emptyText="Enter a name." />
        <div className="sm:col-span-2">
          <ChoiceList
            legend="Connection"
            options={places}
            value={isSsh ? "ssh" : "local"}
            onChange={(next) => setValue("place", next, { shouldDirty: true })}
          />
        </div>
      </FieldGroup>
      {isSsh && <SshFields />}
      <FoldedFields title="More" summary="Time zone and supervisord" hasError={hasError}>
        <TextField
          name="time_zone"
          label="Time zone"
          placeholder="UTC"
          help="Schedules of this server are read in it."
        />
        {/* Over SSH it is always the server's supervisord. */}
        {!isSsh && (
          <SelectField
            name="supervisor"
            label="Workers are kept up by"
            options={[
              ["", "Quarterdeck"],
              ["supervisord", "supervisord"],
            ]}
          />
        )}
        <TextField
          name="supervisord_config"
          label="supervisord configuration"
          placeholder="/etc/supervisor/supervisord.conf"
          isCode
          help="Leave empty for the one of Debian's package."
        />
      </FoldedFields>
      {hidden.length > 0 && (
        <p className="text-sm text-muted">
          The file also sets {hidden.join(" and ")} of this server. Saving keeps that.
        </p>
      )}
    </>
  );
}
