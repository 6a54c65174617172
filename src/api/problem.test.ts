import { expect, test } from "vitest";
import { readProblem } from "./problem.ts";

const texts = ["It is taken."];

test.each<[string, unknown, string | null, Record<string, string[]>]>([
  ["Quarterdeck's own", { message: "No.", errors: { name: texts } }, "No.", { name: texts }],
  [
    "RFC 9457 with a list, as its own example has it",
    { title: "Not valid", errors: [{ detail: "It is taken.", pointer: "#/name" }] },
    "Not valid",
    { name: texts },
  ],
  [
    "a list of several for one field, in a list",
    {
      detail: "No.",
      errors: [
        { detail: "It is taken.", pointer: "/channels/1" },
        { detail: "It is old.", pointer: "#/channels/1" },
      ],
    },
    "No.",
    { "channels.1": ["It is taken.", "It is old."] },
  ],
  ["one text a field", { detail: "No.", errors: { name: "It is taken." } }, "No.", { name: texts }],
  ["objects by field", { errors: { name: [{ message: "It is taken." }] } }, null, { name: texts }],
  [
    "RFC 7807's own example",
    { title: "Not valid", "invalid-params": [{ name: "name", reason: "It is taken." }] },
    "Not valid",
    { name: texts },
  ],
  [
    "JSON:API's pointers",
    { errors: [{ detail: "It is taken.", source: { pointer: "/data/attributes/name" } }] },
    null,
    { name: texts },
  ],
  ["a list of texts, of no field", { errors: texts }, null, { "": texts }],
  ["brackets", { errors: { "channels[0]": texts } }, null, { "channels.0": texts }],
  ["the detail before the title", { title: "Conflict", detail: "It runs." }, "It runs.", {}],
  ["an error in a word", { error: "It runs." }, "It runs.", {}],
  ["an error as an object", { error: { code: 7, message: "It runs." } }, "It runs.", {}],
  ["nothing of use", { message: " ", errors: 7, title: 9 }, null, {}],
  [
    "a pointer that is no URI",
    { errors: [{ detail: "It is taken.", pointer: "#/100%" }] },
    null,
    { "100%": texts },
  ],
  ["no object", ["x"], null, {}],
  ["nothing", null, null, {}],
])("%s", (_, body, message, fields) => {
  expect(readProblem(body, new Response())).toEqual({ message, fields });
});

test.each([
  ['Bearer error="invalid_token", error_description="The token expired"', "The token expired"],
  ["Bearer", "Unauthenticated."],
])("prefers the header %s of a refused token", (header, message) => {
  const response = new Response(null, { headers: { "WWW-Authenticate": header } });
  expect(readProblem({ message: "Unauthenticated." }, response).message).toBe(message);
});
