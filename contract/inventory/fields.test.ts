import { expect, test } from "vitest";
import type * as z from "zod/v4/core";
import { fileEntries } from "./entries.ts";
import { keyReference, reference, secretFields } from "./fields.ts";

/** Names of the fields below a schema that hold a reference to a secret. */
function secretsIn(schema: z.$ZodType, field = ""): string[] {
  if (schema === reference || schema === keyReference) return [field];
  // The union of all schemas that zod has.
  const { def } = (schema as z.$ZodTypes)._zod;
  if (def.type === "object")
    return Object.entries(def.shape).flatMap(([name, inner]) => secretsIn(inner, name));
  if (def.type === "union") return def.options.flatMap((inner) => secretsIn(inner, field));
  if (def.type === "optional") return secretsIn(def.innerType, field);
  if (def.type === "array") return secretsIn(def.element, field);
  return [];
}

test("all fields with references to secrets are known by name", () => {
  const found = new Set(Object.values(fileEntries).flatMap((entry) => secretsIn(entry)));
  expect([...found].sort()).toEqual([...secretFields].sort());
});
