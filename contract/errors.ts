// The errors of the API: their codes, statuses, bodies, and messages for fields.
import * as z from "zod/mini";
import { countOf } from "./count-text.ts";

/** All error codes, with their HTTP statuses. */
export const errorStatus = {
  malformed_body: 400,
  malformed_request: 400,
  unauthenticated: 401,
  unauthorized: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  body_too_large: 413,
  not_json: 415,
  unknown_host: 421,
  invalid_fields: 422,
  too_many_requests: 429,
  server_error: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** Messages that are the same for every error of a code. */
export const errorMessage = {
  unauthenticated: "Unauthenticated.",
  unauthorized: "This action is unauthorized.",
  not_found: "Not found.",
  too_many_requests: "Too Many Attempts.",
  server_error: "Server Error",
  malformed_request: "The request is not valid HTTP.",
} as const satisfies Partial<Record<ErrorCode, string>>;

export const errorBody = z
  .object({ message: z.string(), request_id: z.optional(z.string()) })
  .register(z.globalRegistry, { id: "Error" });

/** Why a token is refused. A revoked token is `token_unknown`, because the service deletes it. */
const tokenCodes = ["token_expired", "token_unknown"] as const;
export type TokenCode = (typeof tokenCodes)[number];

/** Body of a 401. `code`, an extra, is present only where the request had a token. */
export const unauthenticatedBody = z
  .object({ message: z.string(), code: z.optional(z.enum(tokenCodes)) })
  .register(z.globalRegistry, { id: "Unauthenticated" });

export type FieldErrors = Record<string, string[]>;

export const fieldErrorsBody = z
  .object({ message: z.string(), errors: z.record(z.string(), z.array(z.string())) })
  .register(z.globalRegistry, { id: "FieldErrors" });

/** Builds the body of a 422: the first message, how many more there are, and all of them by field. */
export function toFieldErrorsBody(errors: FieldErrors): z.infer<typeof fieldErrorsBody> {
  const [first = "The given data was invalid.", ...rest] = Object.values(errors).flat();
  const more = rest.length === 0 ? "" : ` (and ${countOf(rest.length, "more error")})`;
  return { message: first + more, errors };
}

type Issue = z.core.$ZodIssue;

/** Replaces the error of a union by the errors within its closest branch. */
export function withinBranch(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const branch = issue.errors.find((mistakes) =>
    mistakes.every(({ code, path }) => path.length > 0 || code === "unrecognized_keys"),
  );
  if (branch === undefined || branch.length === 0) return [issue];
  return branch.flatMap((mistake) =>
    withinBranch({ ...mistake, path: [...issue.path, ...mistake.path] }),
  );
}

/** Groups the errors of a schema by field. An item of a list is named `channels.0`. */
export function toFieldErrors(issues: readonly Issue[]): FieldErrors {
  const errors: FieldErrors = {};
  for (const issue of issues.flatMap(withinBranch)) {
    const field = issue.path.map(String).join(".");
    (errors[field] ??= []).push(issue.message);
  }
  return errors;
}
