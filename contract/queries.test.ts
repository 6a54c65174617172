import type * as z from "zod/mini";
import { expect, test } from "vitest";
import { toFieldErrors } from "./errors.ts";
import type { Operation } from "./operation.ts";
import { servedOperations } from "./served-operations.ts";
import "./validation-messages.ts";

const rows: [string, Operation][] = Object.entries(servedOperations);
const parameters = rows.flatMap(([name, { query, upload }]) =>
  [query, upload].flatMap((schema) =>
    schema !== undefined && "shape" in schema
      ? // The shape of a zod object contains schemas.
        Object.entries(schema.shape as Record<string, z.ZodMiniType>).map(
          ([parameter, values]): [string, z.ZodMiniType] => [`${name}: ${parameter}`, values],
        )
      : [],
  ),
);

const wrong = ["0", "-1", "1.5", "1e3", "99999999999999999999", "x", "a\nb", "x".repeat(2000)];

test.each(parameters)("%s says of a wrong value which values are right", (_, values) => {
  const messages = wrong.flatMap((value) =>
    Object.values(toFieldErrors(values.safeParse(value).error?.issues ?? [])).flat(),
  );
  expect(messages.filter((text) => /(?:an invalid format|is invalid)\.$/.test(text))).toEqual([]);
});

test("a part of a worker's log names its bounds", () => {
  const { query } = servedOperations.showWorkerLog;
  expect(
    toFieldErrors(query.safeParse({ lines: "1001", offset: "-1" }).error?.issues ?? []),
  ).toEqual({
    lines: ["This must be an integer from 1 to 1000."],
    offset: ["This must be an integer from 0 to 999999999999999."],
  });
});
