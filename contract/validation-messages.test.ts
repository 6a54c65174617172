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

test("names the values of a field that takes only some", () => {
  const schema = z.object({ files: z.enum(["remove"]), kind: z.enum(["backup", "worker"]) });
  const errorsOf = (value: unknown) => toFieldErrors(schema.safeParse(value).error?.issues ?? []);
  expect(errorsOf({ files: "delete", kind: "backups" })).toEqual({
    files: ["The selected files is invalid. It must be remove."],
    kind: ["The selected kind is invalid. It must be one of backup, worker."],
  });
  expect(errorsOf({ kind: "worker" })).toEqual({ files: ["The files field is required."] });
});
