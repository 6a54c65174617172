// Converts between the texts of a form and the values of a schema, and assigns a service's errors to fields.
import { replaceEqualDeep } from "@tanstack/react-query";
import type { FieldValues, Path, UseFormSetError } from "react-hook-form";
import { ApiError, describeError } from "../../api/api-error.ts";

/** Converts a field's text to a number; an empty field is absent. Other text becomes a value that no schema accepts. */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === "number" || value === undefined || value === null) return value ?? undefined;
  const text = typeof value === "string" ? value.trim() : "";
  if (text === "") return undefined;
  return /^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}

/** Trims a field's text; an empty field is absent. */
export const toText = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

/** Returns the values of a form that differ from the initial ones. */
export const changesIn = <Values extends object>(
  values: Values,
  before: Readonly<Record<string, unknown>>,
): Partial<Values> =>
  // The remaining keys have the same types.
  Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => replaceEqualDeep(before[name], value) !== before[name],
    ),
  ) as Partial<Values>;

/**
 * Shows each error of a service at its field, and errors without a field of the form above it.
 * @param names the fields of the form
 */
export function setServerErrors<Values extends FieldValues>(
  error: unknown,
  names: readonly string[],
  setError: UseFormSetError<Values>,
): void {
  const fields = error instanceof ApiError ? Object.entries(error.fields) : [];
  const known = fields.filter(([name]) => names.includes(name));
  known.forEach(([name, texts], index) =>
    // Only names of fields remain.
    setError(name as Path<Values>, { message: texts.join(" ") }, { shouldFocus: index === 0 }),
  );
  const unknown = fields.filter((field) => !known.includes(field)).flatMap(([, texts]) => texts);
  if (known.length === 0 || unknown.length > 0)
    setError(
      "root.service",
      unknown.length > 0 ? { message: unknown.join(" ") } : toFormError(error),
    );
}

/** An error of a form has a message and a type; the type carries the request id. */
function toFormError(error: unknown) {
  const { message, requestId } = describeError(error);
  return { message, ...(requestId !== null && { type: requestId }) };
}
