// Reads the fields of a request, and says all that is wrong with them at once: what the schema has against them, and what
// only a look at the disk or the database can find.
import { type FieldErrors, toFieldErrors } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import { InvalidFields } from "./service-error.ts";

type Schema = NonNullable<Operation["body"]>;
type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** The fields that fit by themselves, whatever is wrong with the others. */
function fittingFields(schema: Schema, value: unknown): Fields {
  if (!("shape" in schema) || !isFields(schema.shape) || !isFields(value)) return {};
  const fields: Fields = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    if (!Object.hasOwn(value, name)) continue;
    // What a shape of zod holds are schemas.
    const parsed = (field as Schema).safeParse(value[name]);
    if (parsed.success) fields[name] = parsed.data;
  }
  return fields;
}

/**
 * @param check complaints by field; it gets the fields that fit the schema, which are not all of them where others do not
 * @throws InvalidFields with everything that is wrong
 */
export async function readFields(
  schema: Schema,
  value: unknown,
  check: (fields: Fields) => Promise<FieldErrors> = async () => ({}),
): Promise<unknown> {
  const parsed = schema.safeParse(value);
  const found = await check(isFields(parsed.data) ? parsed.data : fittingFields(schema, value));
  const errors = { ...(parsed.error && toFieldErrors(parsed.error.issues)), ...found };
  if (!parsed.success || Object.keys(errors).length > 0) throw new InvalidFields(errors);
  return parsed.data;
}
