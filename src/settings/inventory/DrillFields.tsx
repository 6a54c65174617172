// Where restore drills of sources on a server run instead of on that server.
import { useFormContext, useWatch } from "react-hook-form";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import { toNumber } from "../../app/form/form-values.ts";
import { DocsLink } from "../../ui/text/DocsLink.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { FieldGroup } from "../../ui/form/FieldGroup.tsx";
import { Select } from "../../ui/form/Select.tsx";
import type { EntryValues } from "./entry-form.ts";
import { CheckField, TextField, useFieldError } from "./fields.tsx";
import { SecretField } from "./SecretField.tsx";

type DrillFieldsProps = { servers: InventoryFile["servers"] };

/** Converts to an id, or “local”. */
const toPlace = (value: unknown) => (value === "local" ? value : toNumber(value));

function PlaceField({ servers }: DrillFieldsProps) {
  const { register, getValues } = useFormContext<EntryValues>();
  const error = useFieldError("drills.server");
  return (
    <Field
      label="Drill server"
      error={
        error !== undefined && toPlace(getValues("drills.server")) === undefined
          ? "Choose a server."
          : error
      }
    >
      {(aria) => (
        <Select {...aria} {...register("drills.server", { setValueAs: toPlace })}>
          <option value="">Choose a server</option>
          <option value="local">Quarterdeck&apos;s machine</option>
          {servers.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

export function DrillFields({ servers }: DrillFieldsProps) {
  const hasDrills = useWatch<EntryValues>({ name: "hasDrills" });
  return (
    <FieldGroup title="Restore drills">
      <CheckField
        name="hasDrills"
        label="Run drills on another server"
        help={
          <>
            Without it they run on the server itself. <DocsLink page="inventory">Drills</DocsLink>
          </>
        }
      />
      {hasDrills === true && (
        <>
          <PlaceField servers={servers} />
          <TextField
            name="drills.user"
            label="Drill user"
            placeholder="drill"
            isCode
            help="Account for the files of sites and SQLite databases there. Leave empty for the one that logs in."
          />
          <SecretField
            name="drills.postgres"
            label="PostgreSQL URL"
            none="None"
            emptyText="Enter the server's URL."
            placeholder="postgres://drill:password@localhost"
            help="Database server where drills may create and drop databases, as the drill server reaches it."
          />
          <SecretField
            name="drills.mysql"
            label="MySQL URL"
            none="None"
            emptyText="Enter the server's URL."
            placeholder="mysql://drill:password@localhost"
            help="Database server where drills may create and drop databases, as the drill server reaches it."
          />
        </>
      )}
    </FieldGroup>
  );
}
