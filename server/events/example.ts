// Examples for a reader, made from the schemas of the contract and from nothing else.
import * as z from "zod/mini";

type JsonSchema = {
  type?: string;
  description?: string;
  const?: unknown;
  examples?: unknown[];
  properties?: Record<string, JsonSchema>;
};

/**
 * What a value of a schema looks like: each field's own first example.
 * @throws Error for a field that has none
 */
export const exampleOf = (schema: z.ZodMiniType): unknown => exampleOfJson(toJson(schema), "");

/** A schema with an id is a reference to itself. */
function toJson(schema: z.ZodMiniType): JsonSchema {
  // Of what zod writes, the parts that are read here.
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

/** The fields of an event's data, with what is said of each. */
export function fieldsOf(payload: z.ZodMiniType): [name: string, description: string][] {
  const data = toJson(payload).properties?.["data"]?.properties ?? {};
  return Object.entries(data).map(([name, { description = "" }]) => [name, description]);
}
