import { Checkbox } from "../ui/form/Checkbox.tsx";
import { ChoiceList } from "../ui/form/ChoiceList.tsx";
import { Field } from "../ui/form/Field.tsx";

type TokenScopeProps = {
  servers: readonly { id: number; name: string }[];
  /** Null = all servers, including future ones. */
  value: readonly number[] | null;
  onChange: (ids: number[] | null) => void;
  error: string | undefined;
};

const options = [
  { value: "all", label: "All servers", help: "Includes servers added later." },
  {
    value: "some",
    label: "Some servers",
    help: "The token can't see other servers or manage tokens.",
  },
] as const;

/** The servers that a token may access. */
export function TokenScope({ servers, value, onChange, error }: TokenScopeProps) {
  return (
    <div className="grid gap-2">
      <ChoiceList
        legend="Scope"
        options={options}
        value={value === null ? "all" : "some"}
        onChange={(choice) => onChange(choice === "all" ? null : [])}
      />
      {value !== null && (
        <fieldset className="grid gap-x-6 gap-y-1 rounded-md border border-line px-3 py-2 sm:grid-cols-2">
          <legend className="sr-only">Servers</legend>
          {servers.map(({ id, name }) => (
            <Field key={id} label={name} layout="beside">
              {(aria) => (
                <Checkbox
                  {...aria}
                  checked={value.includes(id)}
                  onChange={({ target }) =>
                    onChange(
                      target.checked ? [...value, id] : value.filter((other) => other !== id),
                    )
                  }
                />
              )}
            </Field>
          ))}
        </fieldset>
      )}
      {error !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {value?.length === 0 ? "Choose at least one server." : error}
        </p>
      )}
    </div>
  );
}
