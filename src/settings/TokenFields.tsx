import { useController, useFormContext, useFormState } from "react-hook-form";
import type { Ability } from "../../contract/tokens.ts";
import type { CreateTokenBody } from "../../contract/bodies.ts";
import { ChoiceList } from "../ui/form/ChoiceList.tsx";
import { Field } from "../ui/form/Field.tsx";
import { Input } from "../ui/form/Input.tsx";
import { TokenExpiry } from "./TokenExpiry.tsx";
import { TokenScope } from "./TokenScope.tsx";
import { canChange } from "./token-facts.ts";

type TokenFieldsProps = {
  servers: readonly { id: number; name: string }[];
  /** When the current token expires; null = never. */
  latest: string | null;
};

const abilityOptions: { value: Ability; label: string; help: string }[] = [
  {
    value: "read",
    label: "Read",
    help: "View only, for monitoring, /metrics and status screens.",
  },
  {
    value: "*",
    label: "Everything",
    help: "Full access, for people and for pipelines that report deployments.",
  },
];

export function TokenFields({ servers, latest }: TokenFieldsProps) {
  const { control, register } = useFormContext<CreateTokenBody>();
  const { errors } = useFormState<CreateTokenBody>();
  const { field: abilities } = useController({ control, name: "abilities" });
  const { field: serverIds } = useController({ control, name: "server_ids" });
  const { field: expiresAt } = useController({ control, name: "expires_at" });
  return (
    <div className="grid gap-5">
      <Field
        label="Name"
        error={errors.name?.message}
        help="Who or what uses the token. The timeline shows the name."
      >
        {(aria) => <Input {...aria} {...register("name")} placeholder="Shop deployments" />}
      </Field>
      <ChoiceList
        legend="Permissions"
        options={abilityOptions}
        value={canChange({ abilities: abilities.value }) ? "*" : "read"}
        onChange={(ability) => abilities.onChange([ability])}
      />
      {servers.length > 0 && (
        <TokenScope
          servers={servers}
          value={serverIds.value ?? null}
          onChange={serverIds.onChange}
          error={errors.server_ids?.message}
        />
      )}
      <TokenExpiry
        value={expiresAt.value ?? undefined}
        latest={latest}
        onChange={expiresAt.onChange}
        error={errors.expires_at?.message}
      />
    </div>
  );
}
