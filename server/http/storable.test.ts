// Tests that no request makes the database store or compare a text that it cannot.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Operation } from "../../contract/operation.ts";
import { operations } from "../../contract/operations.ts";
import { isLongForm } from "../testing/long-form.ts";
import { createTestService, type TestService } from "../testing/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await createTestService();
});
afterAll(() => service.close());

const refusal = (field: string) => ({
  status: 422,
  body: {
    message: `The ${field} field contains a character that cannot be stored.`,
    errors: { [field]: [`The ${field} field contains a character that cannot be stored.`] },
  },
});

test.each([
  ["U+0000", "\0"],
  ["a lone high surrogate", "\ud800"],
  ["a lone low surrogate", "\udfff"],
])("refuses %s in a webhook's URL or a deployment's texts at its field", async (_kind, bad) => {
  const url = `https://example.com/${bad}`;
  expect(await service.json("POST", "/api/site/1/webhook", { url })).toEqual(refusal("url"));
  for (const field of ["message", "url", "commit", "branch", "author"]) {
    const deployment = { status: "finished", [field]: field === "url" ? url : `a${bad}b` };
    expect(await service.json("POST", "/api/site/1/deployment", deployment)).toEqual(
      refusal(field),
    );
  }
});

/** Parameters that an operation does not have take the same code path as the last one. */
const others = isLongForm
  ? ["page", "per_page", "search", "filter[status]", "sort", "q", "cursor", "nobody"]
  : ["nobody"];
/** One text that can be decoded, and one that cannot. */
const texts = isLongForm ? ["%00", "%ED%A0%80", "%FF", "1%00"] : ["%00", "%FF"];

const reading = Object.values<Operation>(operations).filter(({ method }) => method === "GET");

test.each(reading.map((row) => [row.path, row] as const))(
  "no character in a query of GET %s causes an internal error",
  async (_path, row) => {
    // The query parameters of the operation, if it has any. The cast holds for the schemas of all operations.
    const shape = (row.query?._zod.def as { shape?: object } | undefined)?.shape ?? {};
    const pathOf = (id: string) => row.path.replace(/\{\w+\}/g, id);
    const queries = [...Object.keys(shape), ...others].flatMap((name) =>
      texts.map((text) => `${name}=${text}`),
    );
    for (const path of [...queries.map((query) => `${pathOf("1")}?${query}`), pathOf("1%00")]) {
      const { status } = await service.call("GET", path);
      expect([200, 404, 422], `${path}: ${status}`).toContain(status);
    }
  },
);

test("a token with such characters is unknown", async () => {
  for (const token of ["1|qd_\u00ff", "1|qd_%00", "\u00ed\u00a0\u0080"]) {
    const { status } = await service.call("GET", "/api/servers", undefined, token);
    expect(status).toBe(401);
  }
});
