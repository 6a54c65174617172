// Builds examples for documentation from the schemas of the contract.
import * as z from "zod/mini";

type JsonSchema = {
  type?: string;
  description?: string;
  const?: unknown;
  examples?: unknown[];
  properties?: Record<string, JsonSchema>;
};

/**
 * Builds a value of a schema from the first example of each field.
 * @throws Error for a field that has none
 */
export const exampleOf = (schema: z.ZodMiniType): unknown => exampleOfJson(toJson(schema), "");

/** Converts a schema to JSON Schema, resolving the reference that a schema with an id has to itself. */
function toJson(schema: z.ZodMiniType): JsonSchema {
  // Only the parts that are read here are typed.
  const json = z.toJSONSchema(schema) as JsonSchema & { $defs?: Record<string, JsonSchema> };
  const [definition = json] = Object.values(json.$defs ?? {});
  return definition;
}

function exampleOfJson(schema: JsonSchema, path: string): unknown {
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.properties === undefined) throw new Error(`There is no example of ${path}.`);
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, part]) => [
      name,
      exampleOfJson(part, `${path}.${name}`),
    ]),
  );
}

/** @returns the fields of an event's data with their descriptions */
export function fieldsOf(payload: z.ZodMiniType): [name: string, description: string][] {
  const data = toJson(payload).properties?.["data"]?.properties ?? {};
  return Object.entries(data).map(([name, { description = "" }]) => [name, description]);
}
