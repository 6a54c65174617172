// A field of the worker form: label, help, error and warning.
import type { ReactNode } from "react";
import { useFormContext, useFormState, useWatch } from "react-hook-form";
import { workerWarnings } from "../../contract/workers/warnings.ts";
import { toNumber } from "../app/form/form-values.ts";
import { Field, type FieldAria } from "../ui/form/Field.tsx";
import { Input } from "../ui/form/Input.tsx";
import type { NumberFieldFacts } from "./worker-fields.ts";
import { toPreview, type WorkerField, type WorkerFormValues } from "./worker-form.ts";

type WorkerFieldProps = {
  name: WorkerField;
  label: string;
  help: string;
  machineMemory: number | null;
  layout?: "above" | "beside";
  children: (aria: FieldAria) => ReactNode;
};

export function WorkerFieldFrame({
  name,
  label,
  help,
  machineMemory,
  layout,
  children,
}: WorkerFieldProps) {
  const { errors } = useFormState<WorkerFormValues>({ name });
  const worker = toPreview(useWatch<WorkerFormValues>());
  const warning = workerWarnings(worker, machineMemory).find(({ field }) => field === name)?.text;
  return (
    <Field
      label={label}
      help={help}
      error={errors[name]?.message}
      warning={warning}
      layout={layout ?? "above"}
    >
      {children}
    </Field>
  );
}

type NumberFieldProps = NumberFieldFacts & { machineMemory: number | null; placeholder?: string };

export function NumberField({
  name,
  label,
  help,
  unit,
  machineMemory,
  placeholder,
}: NumberFieldProps) {
  const { register } = useFormContext<WorkerFormValues>();
  return (
    <WorkerFieldFrame name={name} label={label} help={help} machineMemory={machineMemory}>
      {(aria) => (
        // A text field: a number field changes by the mouse wheel, and hides invalid text.
        <Input
          {...aria}
          {...register(name, { setValueAs: toNumber })}
          inputMode="numeric"
          unit={unit}
          placeholder={placeholder}
        />
      )}
    </WorkerFieldFrame>
  );
}
