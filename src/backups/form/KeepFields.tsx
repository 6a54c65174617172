// The keep rules of a configuration, by period.
import { useFormContext, useFormState } from "react-hook-form";
import { keepPeriods } from "../../../contract/backups/keep-rules.ts";
import { toNumber } from "../../app/form/form-values.ts";
import { Field } from "../../ui/form/Field.tsx";
import { Input } from "../../ui/form/Input.tsx";
import type { ConfigurationFormValues } from "./configuration-form.ts";

const labels = {
  hourly: "Hourly",
  daily: "Daily",
  weekly: "Weekly",
  monthly: "Monthly",
  yearly: "Yearly",
} as const;

export function KeepFields() {
  const { register } = useFormContext<ConfigurationFormValues>();
  const { errors } = useFormState<ConfigurationFormValues>({ name: "keep" });
  return (
    <fieldset className="sm:col-span-2">
      <legend className="font-medium">Also keep</legend>
      <p className="mt-0.5 text-sm text-muted">
        The newest backup of each of so many hours, days, weeks, months or years, in addition to the
        last ones.
      </p>
      <div className="mt-2 grid grid-cols-2 gap-3 sm:grid-cols-5">
        {keepPeriods.map((period) => (
          <Field key={period} label={labels[period]} error={errors.keep?.[period]?.message}>
            {(aria) => (
              <Input
                {...aria}
                {...register(`keep.${period}`, {
                  setValueAs: (value) => toNumber(value) ?? null,
                })}
                inputMode="numeric"
              />
            )}
          </Field>
        ))}
      </div>
    </fieldset>
  );
}
