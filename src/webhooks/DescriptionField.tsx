import { useFormContext, useFormState } from "react-hook-form";
import { Field } from "../ui/form/Field.tsx";
import { Input } from "../ui/form/Input.tsx";

type Values = { description?: string };

export function DescriptionField() {
  const { register } = useFormContext<Values>();
  const { errors } = useFormState<Values>({ name: "description" });
  return (
    <Field
      label="Description"
      error={errors.description?.message}
      help="What receives the events. Shown instead of the URL's host."
    >
      {(aria) => <Input {...aria} {...register("description")} placeholder="Billing, production" />}
    </Field>
  );
}
