// The compression level and the bandwidth limit.
import { useController, useFormContext, useFormState } from "react-hook-form";
import { maxCompressionLevel, usualCompressionLevel } from "../../../contract/backups/backup.ts";
import { toNumber } from "../../app/form/form-values.ts";
import { Field } from "../../ui/form/Field.tsx";
import { Input } from "../../ui/form/Input.tsx";
import type { ConfigurationFormValues } from "./configuration-form.ts";

const bytesPerMb = 1_000_000;

/** Converts megabytes to bytes; other text becomes a value that no schema accepts. */
const toBytes = (text: string): number | null => {
  const megabytes = toNumber(text);
  return megabytes === undefined ? null : Math.round(megabytes * bytesPerMb);
};

function BandwidthField() {
  const { field, fieldState } = useController<ConfigurationFormValues, "bytes_per_second">({
    name: "bytes_per_second",
  });
  return (
    <Field
      label="Bandwidth limit"
      help="How fast runs write to the storage. Leave empty for no limit. Backups made before a restore aren't limited."
      error={fieldState.error && "Enter 0.01 or more, or leave the field empty."}
    >
      {(aria) => (
        <Input
          {...aria}
          ref={field.ref}
          name={field.name}
          onBlur={field.onBlur}
          // Uncontrolled, so that a number is not reformatted while it is typed.
          defaultValue={typeof field.value === "number" ? field.value / bytesPerMb : ""}
          onChange={({ target }) => field.onChange(toBytes(target.value))}
          inputMode="decimal"
          unit="MB/s"
        />
      )}
    </Field>
  );
}

export function SpeedFields() {
  const { register } = useFormContext<ConfigurationFormValues>();
  const { errors } = useFormState<ConfigurationFormValues>({ name: "compression_level" });
  return (
    <>
      <Field
        label="Compression level"
        help={`Of zstd: 1 is fast, ${maxCompressionLevel} is small and slow. Leave empty for ${usualCompressionLevel}.`}
        error={errors.compression_level?.message}
      >
        {(aria) => (
          <Input
            {...aria}
            {...register("compression_level", { setValueAs: (value) => toNumber(value) ?? null })}
            inputMode="numeric"
            placeholder={String(usualCompressionLevel)}
          />
        )}
      </Field>
      <BandwidthField />
    </>
  );
}
