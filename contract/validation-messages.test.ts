import * as z from "zod/mini";
import { expect, test } from "vitest";
import { toFieldErrors } from "./errors.ts";
import "./validation-messages.ts";

test.each([
  [z.minLength(1), [], "must have at least 1 item."],
  [z.minLength(2), [], "must have at least 2 items."],
  [z.maxLength(1), ["a", "b"], "must not have more than 1 item."],
])("describes the bounds of a list by its number of items", (bound, value, words) => {
  const schema = z.object({ server_ids: z.array(z.string()).check(bound) });
  const { error } = schema.safeParse({ server_ids: value });
  expect(toFieldErrors(error?.issues ?? [])).toEqual({
    server_ids: [`The server ids field ${words}`],
  });
});
