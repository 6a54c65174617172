// Converts schemas of the contract to OpenAPI. A schema with an id becomes a component, so that readers and code generators see
// one name for each type.
import * as z from "zod/mini";

export type Json = Record<string, unknown>;
export type Schema = z.ZodMiniType;
type JsonSchema = Json & { $schema?: string; $defs?: Record<string, Json>; id?: string };

/** Returns the JSON Schema, or a reference to its component. @param components receives the schemas that have an id, by id */
export function hoist(schema: Schema, io: "input" | "output", components: Json): Json {
  const {
    $schema: _,
    $defs,
    id,
    ...rest
  } = referToComponents(z.toJSONSchema(schema, { io, unrepresentable: "any" }));
  for (const [name, definition] of Object.entries($defs ?? {})) {
    const { id: _id, ...content } = definition;
    components[name] = content;
  }
  if (typeof id !== "string") return rest;
  components[id] = rest;
  return { $ref: `#/components/schemas/${id}` };
}

const referToComponents = (schema: object): JsonSchema =>
  JSON.parse(JSON.stringify(schema).replaceAll("#/$defs/", "#/components/schemas/"));
