// The fields of a new token. The contract's schema checks them here as it does at the service.
import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { useController, useForm } from "react-hook-form";
import type { Ability, CreateTokenBody } from "../../contract/tokens.ts";
import { createTokenBody } from "../../contract/tokens.ts";
import { FormError } from "../app/FormError.tsx";
import { setServerErrors } from "../app/form-values.ts";
import { LeaveGuard } from "../app/LeaveGuard.tsx";
import { Button } from "../ui/Button.tsx";
import { ChoiceList } from "../ui/ChoiceList.tsx";
import { Field } from "../ui/Field.tsx";
import { Input } from "../ui/Input.tsx";
import { TokenExpiry } from "./TokenExpiry.tsx";
import { TokenScope } from "./TokenScope.tsx";
import { canChange } from "./token-facts.ts";

type TokenFormProps = {
  servers: readonly { id: number; name: string }[];
  /** When the token in use ends; null = never. */
  latest: string | null;
  /** Resolves when the token is made; throws what the service has against it. */
  onCreate: (body: CreateTokenBody) => Promise<void>;
  /** Beside the submit button. */
  cancel: ReactNode;
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

export function TokenForm({ servers, latest, onCreate, cancel }: TokenFormProps) {
  const { control, register, handleSubmit, setError, formState } = useForm<CreateTokenBody>({
    // The least that is of use: whoever needs more says so.
    defaultValues: { name: "", abilities: ["read"], server_ids: null },
    resolver: zodResolver(createTokenBody),
    mode: "onTouched",
  });
  const { isSubmitting, isDirty, errors } = formState;
  const { field: abilities } = useController({ control, name: "abilities" });
  const { field: serverIds } = useController({ control, name: "server_ids" });
  const { field: expiresAt } = useController({ control, name: "expires_at" });

  const submit = handleSubmit(async (body) => {
    try {
      await onCreate(body);
    } catch (error) {
      setServerErrors(error, ["name", "abilities", "server_ids", "expires_at"], setError);
    }
  });

  return (
    <form
      noValidate
      aria-label="New token"
      onSubmit={(event) => void submit(event)}
      className="grid max-w-2xl content-start gap-5"
    >
      <LeaveGuard isDirty={isDirty} question="Leave without creating the token?" />
      <FormError errors={errors} />
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
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" isPending={isSubmitting}>
          {isSubmitting ? "Creating…" : "Create token"}
        </Button>
        {cancel}
      </div>
    </form>
  );
}
