// Between the texts that a form holds and the values that a schema checks, and back from a refusal to the fields.
import { replaceEqualDeep } from "@tanstack/react-query";
import type { FieldValues, Path, UseFormSetError } from "react-hook-form";
import { ApiError, describeError } from "../api/api-error.ts";

/** An empty field is one that was left out. What is no number stays one that no schema takes. */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === "number" || value === undefined || value === null) return value ?? undefined;
  const text = typeof value === "string" ? value.trim() : "";
  if (text === "") return undefined;
  return /^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}

/** An empty field is one that was left out. */
export const toText = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

/** Of the values of a form those that differ from what it began with. */
export const changesIn = <Values extends object>(
  values: Values,
  before: Readonly<Record<string, unknown>>,
): Partial<Values> =>
  // The keys that are left are of the same type.
  Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => replaceEqualDeep(before[name], value) !== before[name],
    ),
  ) as Partial<Values>;

/**
 * Sets each error of a service on its field; what belongs to no field of the form stands above it.
 * @param names the fields that the form has
 */
export function setServerErrors<Values extends FieldValues>(
  error: unknown,
  names: readonly string[],
  setError: UseFormSetError<Values>,
): void {
  const fields = error instanceof ApiError ? Object.entries(error.fields) : [];
  const known = fields.filter(([name]) => names.includes(name));
  known.forEach(([name, texts], index) =>
    // Only names of fields are left.
    setError(name as Path<Values>, { message: texts.join(" ") }, { shouldFocus: index === 0 }),
  );
  const unknown = fields.filter((field) => !known.includes(field)).flatMap(([, texts]) => texts);
  if (known.length === 0 || unknown.length > 0)
    setError(
      "root.service",
      unknown.length > 0 ? { message: unknown.join(" ") } : toFormError(error),
    );
}

/** Of a form's error there is a message and a type; the type carries the request's id. */
function toFormError(error: unknown) {
  const { message, requestId } = describeError(error);
  return { message, ...(requestId !== null && { type: requestId }) };
}
