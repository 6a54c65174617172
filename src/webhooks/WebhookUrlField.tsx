// The URL field of a webhook.
import { useFormContext, useFormState, useWatch } from "react-hook-form";
import { toText } from "../app/form/form-values.ts";
import { Field } from "../ui/form/Field.tsx";
import { Input } from "../ui/form/Input.tsx";

type Values = { url: string };

/** Warns about a valid URL that is probably a mistake. */
const warningOf = (url: string | undefined, isSigned: boolean): string | undefined =>
  url !== undefined && /^\s*http:/i.test(url)
    ? `Not encrypted: anyone on the network path can read the events.${isSigned ? " Signatures still prove the sender." : ""}`
    : undefined;

/** @param isOurs whether the service is Quarterdeck's own, so that its requests are known to be signed */
export function WebhookUrlField({ isOurs }: { isOurs: boolean }) {
  const { control, register } = useFormContext<Values>();
  const { errors } = useFormState<Values>({ name: "url" });
  const url = useWatch({ control, name: "url" });
  return (
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
          placeholder="https://example.com/hooks/quarterdeck"
        />
      )}
    </Field>
  );
}
