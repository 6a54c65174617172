import { expect, test } from "vitest";
import { fieldErrorText } from "./field-error.ts";

test.each([
  ["The max jobs field is required.", "Max jobs", "Max jobs is required."],
  ["The memory field must be at least 16.", "Memory", "Memory must be at least 16."],
  ["The hold field must be an integer.", "Keep last", "Keep last must be a whole number."],
  ["The selected backupable id is invalid.", "Site", "Choose a valid site."],
  [
    "The selected stopsignal is invalid. It must be one of TERM, INT.",
    "Stop signal",
    "Choose a valid stop signal.",
  ],
  ["The day must be 1 to 31, not 32.", "Frequency", "The day must be 1 to 31, not 32."],
])("rewords %s for the field %s", (error, label, text) => {
  expect(fieldErrorText(error, label)).toBe(text);
});

test("prefers a field's own message when it is empty", () => {
  const error = "The storage provider id field is required.";
  const text = "Choose where to store backups.";
  expect(fieldErrorText(error, "Storage provider", text)).toBe(text);
});
