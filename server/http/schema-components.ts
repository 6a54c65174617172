// Schemas of the contract as OpenAPI has them: one with an id becomes a component, so that a reader and a generator see
// one name for one thing.
import * as z from "zod/mini";

export type Json = Record<string, unknown>;
export type Schema = z.ZodMiniType;
type JsonSchema = Json & { $schema?: string; $defs?: Record<string, Json>; id?: string };

/** @param components where the schemas with an id are put, by it */
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
