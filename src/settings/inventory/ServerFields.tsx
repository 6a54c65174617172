// The fields of a server: connection, and options of its workers and drills.
import { useWatch } from "react-hook-form";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import { FieldGroup } from "../../ui/form/FieldGroup.tsx";
import { FoldedFields } from "../../ui/form/FoldedFields.tsx";
import { DrillFields } from "./DrillFields.tsx";
import type { EntryValues } from "./entry-form.ts";
import { NameField, SelectField, TextField, TypeField, useFieldError } from "./fields.tsx";
import { LoginFields } from "./LoginFields.tsx";

const places = [
  { value: "ssh", label: "Over SSH", help: "Another machine." },
  { value: "local", label: "This machine", help: "Where Quarterdeck runs." },
] as const;

export function ServerFields({ inventory }: { inventory: InventoryFile }) {
  const place = useWatch<EntryValues>({ name: "place" });
  const errors = [
    useFieldError("time_zone"),
    useFieldError("supervisor"),
    useFieldError("supervisord_config"),
    useFieldError("connection.ssh.config"),
  ];
  const isSsh = place === "ssh";
  return (
    <>
      <FieldGroup title="Server">
        <NameField placeholder="web-1" />
        <TypeField name="place" legend="Connection" options={places} />
      </FieldGroup>
      {isSsh && <LoginFields name="connection.ssh" host="web-1.example.com" />}
      <DrillFields servers={inventory.servers} />
      <FoldedFields
        title="More"
        summary={isSsh ? "Time zone, supervisord and ssh_config" : "Time zone and supervisord"}
        hasError={errors.some((error) => error !== undefined)}
      >
        <TextField
          name="time_zone"
          label="Time zone"
          placeholder="UTC"
          help="Time zone of this server's schedules."
        />
        {/* Over SSH it is always the server's supervisord. */}
        {!isSsh && (
          <SelectField
            name="supervisor"
            label="Supervisor"
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
        {isSsh && (
          <TextField
            name="connection.ssh.config"
            label="SSH configuration"
            placeholder="/etc/quarterdeck/ssh_config"
            isCode
            help="An ssh_config on Quarterdeck's machine whose options apply as well."
          />
        )}
      </FoldedFields>
    </>
  );
}
