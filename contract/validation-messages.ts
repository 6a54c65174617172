// Messages of invalid values, shared so that a form and a 422 say the same. Imported only where they are shown: pages
// that only read data do not need them.
import * as z from "zod/mini";
import { countOf } from "./count-text.ts";

const typeText: Partial<Record<string, string>> = {
  array: "must be an array",
  boolean: "must be true or false",
  int: "must be an integer",
  // All numbers of the interface are integers.
  number: "must be an integer",
  object: "must be an object",
  record: "must be an object",
  string: "must be a string",
};

const isBlank = (value: unknown) =>
  value === undefined || value === null || (typeof value === "string" && value.trim() === "");

/** Returns the rest of the sentence that begins with "The … field". */
function complaint(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined || issue.input === null) return "is required";
      return typeText[issue.expected] ?? "has the wrong type";
    case "too_small":
      if (issue.origin === "string")
        return isBlank(issue.input)
          ? "is required"
          : `must be at least ${issue.minimum} characters`;
      if (issue.origin === "array")
        return `must have at least ${countOf(Number(issue.minimum), "item")}`;
      return `must be at least ${issue.minimum}`;
    case "too_big":
      if (issue.origin === "string") return `must not be longer than ${issue.maximum} characters`;
      if (issue.origin === "array")
        return `must not have more than ${countOf(Number(issue.maximum), "item")}`;
      return `must not be greater than ${issue.maximum}`;
    case "invalid_value":
    case "invalid_union":
      return isBlank(issue.input) ? "is required" : "is invalid";
    case "invalid_format":
      return "has an invalid format";
    case "custom":
      return issue.params?.["isUnstorable"] === true
        ? "contains a character that cannot be stored"
        : "is invalid";
    default:
      return "is invalid";
  }
}

z.config({
  // The `error:` text of a schema takes precedence.
  customError: (issue) => {
    if (issue.code === "unrecognized_keys") return `Unknown field “${issue.keys.join("”, “")}”.`;
    const field = (issue.path ?? []).map(String).join(".").replaceAll("_", " ");
    if (issue.code === "invalid_value" && !isBlank(issue.input)) {
      const allowed = `${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}`;
      return `The selected ${field} is invalid. It must be ${allowed}.`;
    }
    return `The ${field} field ${complaint(issue)}.`;
  },
});
