import { type ReactNode, useId } from "react";
import { fieldErrorText } from "./field-error.ts";
import { Icon } from "../Icon.tsx";

/** Attributes that connect a control with its label, help and error. */
export type FieldAria = {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
};

type FieldProps = {
  label: string;
  /** The interface's name of the field. */
  term?: string | undefined;
  help?: ReactNode;
  error?: string | undefined;
  /** The error to show where the field is required and empty. */
  emptyText?: string | undefined;
  /** Shown without blocking. */
  warning?: string | undefined;
  /** Position of the label: above a text field, beside a checkbox. */
  layout?: "above" | "beside";
  children: (aria: FieldAria) => ReactNode;
};

export function Field({
  label,
  term,
  help,
  error,
  emptyText,
  warning,
  layout = "above",
  children,
}: FieldProps) {
  const id = useId();
  const texts = { error, warning, help };
  const describedBy = Object.entries(texts)
    .filter(([, text]) => text !== undefined)
    .map(([kind]) => `${id}-${kind}`)
    .join(" ");
  const control = children({
    id,
    "aria-describedby": describedBy === "" ? undefined : describedBy,
    "aria-invalid": error === undefined ? undefined : true,
  });
  return (
    <div className="w-full min-w-0">
      <div className="flex min-h-6 items-center gap-2">
        {layout === "beside" && control}
        <label
          htmlFor={id}
          // Beside a checkbox, a label may be any name. Above a field, it shares its line with a term, and would break
          // within a word.
          className={`font-medium${layout === "beside" ? " wrap-anywhere" : ""}`}
        >
          {label}
        </label>
        {term !== undefined && (
          <span aria-hidden className="ms-auto truncate font-mono text-xs text-muted">
            {term}
          </span>
        )}
      </div>
      {layout === "above" && <div className="mt-1">{control}</div>}
      {/* Aligned with the label, not with the checkbox. */}
      <div className={layout === "beside" ? "ps-8 sm:ps-6" : undefined}>
        {error !== undefined && (
          <p id={`${id}-error`} className="mt-1.5 text-sm text-bad">
            {fieldErrorText(error, label, emptyText)}
          </p>
        )}
        <div aria-live="polite">
          {warning !== undefined && (
            <p id={`${id}-warning`} className="mt-1.5 flex gap-1.5 text-sm text-warn">
              <span className="mt-0.5">
                <Icon name="warning" />
              </span>
              {warning}
            </p>
          )}
        </div>
        {help !== undefined && (
          <p id={`${id}-help`} className="mt-1.5 text-sm text-muted">
            {help}
          </p>
        )}
      </div>
    </div>
  );
}
