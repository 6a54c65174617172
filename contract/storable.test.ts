import * as z from "zod/mini";
import { expect, test } from "vitest";
import { toFieldErrors } from "./errors.ts";
import type { Operation } from "./operation.ts";
import { servedOperations } from "./served-operations.ts";
import { line, isStorableText } from "./inputs.ts";
import "./validation-messages.ts";

type Path = (string | number)[];
type Definition = z.core.$ZodTypes["_zod"]["def"];

/** Returns the paths of all texts in a schema. Throws for a kind of schema that is not used yet, so that no text is missed. */
function textsOf(schema: z.core.$ZodType): Path[] {
  // The union of zod's definitions, which the type of the base class hides.
  const definition = schema._zod.def as Definition;
  switch (definition.type) {
    case "string":
      return [[]];
    case "number":
    case "boolean":
    case "enum":
    case "literal":
      return [];
    case "optional":
    case "nullable":
    case "default":
      return textsOf(definition.innerType);
    case "pipe":
      return textsOf(definition.in);
    case "union":
      return definition.options.flatMap(textsOf);
    case "array":
      return textsOf(definition.element).map((path) => [0, ...path]);
    case "object":
      return Object.entries(definition.shape).flatMap(([name, field]) =>
        textsOf(field).map((path) => [name, ...path]),
      );
    default:
      throw new Error(`Say where a schema of the kind “${definition.type}” takes a text.`);
  }
}

/** Returns a value that contains only `text`, at the given path. */
const holding = (path: Path, text: string): unknown =>
  path.reduceRight<unknown>(
    (value, key) => (typeof key === "number" ? [value] : { [key]: value }),
    text,
  );

const unstorable = [
  // URLs, so that they are valid in every field of free text.
  ["U+0000", "https://a.example/\0b"],
  ["a lone high surrogate", "https://a.example/\ud800b"],
  ["a lone low surrogate", "https://a.example/\udc00b"],
] as const;

/** Returns the schemas of a union, each with the value of its discriminator. */
function shapesOf(schema: z.core.$ZodType): { shape: z.core.$ZodType; given: object }[] {
  // As above.
  const definition = schema._zod.def as Definition;
  if (definition.type !== "union" || !("discriminator" in definition))
    return [{ shape: schema, given: {} }];
  const name = String(definition.discriminator);
  return definition.options.map((shape) => {
    const [value] = shape._zod.propValues?.[name] ?? [];
    return { shape, given: { [name]: value } };
  });
}

const bodies = Object.entries(servedOperations).flatMap(([name, row]: [string, Operation]) =>
  row.body === undefined
    ? []
    : shapesOf(row.body).flatMap(({ shape, given }) =>
        textsOf(shape).map((path) => [name, path.join("."), row.body, path, given] as const),
      ),
);

test.each(bodies)("%s refuses an unstorable text in %s", (_name, field, body, path, given) => {
  for (const [kind, text] of unstorable) {
    const parsed = body?.safeParse(Object.assign({}, holding(path, text), given));
    const errors = toFieldErrors(parsed?.error?.issues ?? []);
    expect(errors[field], kind).toHaveLength(1);
  }
});

test("the table of operations has bodies with text fields", () => {
  expect(bodies.length).toBeGreaterThan(10);
});

test("refuses a field that cannot be stored with one message", () => {
  const schema = z.object({ branch_name: line(100) });
  for (const [kind, text] of unstorable)
    expect(
      toFieldErrors(schema.safeParse({ branch_name: text }).error?.issues ?? []),
      kind,
    ).toEqual({
      branch_name: ["The branch name field contains a character that cannot be stored."],
    });
});

test.each([...unstorable])("%s cannot be stored", (_kind, text) => {
  expect(isStorableText(text)).toBe(false);
});

test.each(["", "ünïcødé 🦜", "\ufffd", "\u2028", "\x01\x7f"])("%j can be stored", (text) => {
  expect(isStorableText(text)).toBe(true);
});
