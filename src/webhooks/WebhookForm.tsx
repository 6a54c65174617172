// The fields of a new webhook. The contract's schema checks them here as it does at the service.
import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { useForm, useWatch } from "react-hook-form";
import { createWebhookBody } from "../../contract/webhooks/webhook.ts";
import { FormError } from "../app/FormError.tsx";
import { setServerErrors, toText } from "../app/form-values.ts";
import { LeaveGuard } from "../app/LeaveGuard.tsx";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";
import { Input } from "../ui/Input.tsx";

type Values = { url: string };

type WebhookFormProps = {
  /** The service is Quarterdeck's own, so it is known what it sends. */
  isOurs: boolean;
  /** Resolves when the webhook is made; throws what the service has against it. */
  onCreate: (body: Values) => Promise<void>;
  /** Beside the submit button. */
  cancel: ReactNode;
};

/** What is allowed and probably not meant. */
const warningOf = (url: string | undefined, isSigned: boolean): string | undefined =>
  url !== undefined && /^\s*http:/i.test(url)
    ? `Not encrypted: anyone on the network path can read the events.${isSigned ? " Signatures still prove the sender." : ""}`
    : undefined;

export function WebhookForm({ isOurs, onCreate, cancel }: WebhookFormProps) {
  const { control, register, handleSubmit, setError, formState } = useForm<Values>({
    defaultValues: { url: "" },
    resolver: zodResolver(createWebhookBody),
    mode: "onTouched",
  });
  const { isSubmitting, isDirty, errors } = formState;
  const url = useWatch({ control, name: "url" });

  const submit = handleSubmit(async (body) => {
    try {
      await onCreate(body);
    } catch (error) {
      setServerErrors(error, ["url"], setError);
    }
  });

  return (
    <form
      noValidate
      aria-label="New webhook"
      onSubmit={(event) => void submit(event)}
      className="grid content-start gap-5"
    >
      <LeaveGuard isDirty={isDirty} question="Leave without creating the webhook?" />
      <FormError errors={errors} />
      <Field
        label="URL"
        error={errors.url?.message}
        emptyText="Enter a URL."
        warning={warningOf(url, isOurs)}
        help={
          isOurs
            ? "Receives a POST request for each event. A response of 200 to 299 within 15 s counts as delivered. Quarterdeck retries all others."
            : "Called for each event of the site."
        }
      >
        {(aria) => (
          <Input
            {...aria}
            {...register("url", { setValueAs: toText })}
            isCode
            inputMode="url"
            autoCapitalize="none"
            placeholder="https://example.com/hooks/quarterdeck"
          />
        )}
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" isPending={isSubmitting}>
          {isSubmitting ? "Creating…" : "Create webhook"}
        </Button>
        {cancel}
      </div>
    </form>
  );
}
