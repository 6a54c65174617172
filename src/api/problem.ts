// Reads why a service refused a request, in any of the usual formats: Quarterdeck's own, RFC 9457, or a similar one.
import type { FieldErrors } from "../../contract/errors.ts";

type Named = Record<string, unknown>;

const isNamed = (value: unknown): value is Named =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const textOf = (...values: unknown[]): string | null => {
  for (const value of values)
    if (typeof value === "string" && value.trim() !== "") return value.trim();
  return null;
};

/** Converts "#/channels/0", "/data/name" and "channels[0]" to a field name of the contract: `channels.0`. */
const toFieldName = (pointer: string): string =>
  decodeURIComponent(pointer.replace(/%(?![\da-f]{2})/gi, "%25"))
    .replace(/^#?\/(?:data\/attributes\/|data\/|body\/)?/, "")
    .replace(/^(?:\$|body)\./, "")
    .replaceAll(/\[(\w+)\]/g, ".$1")
    .replaceAll("/", ".");

const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((one) =>
    isNamed(one)
      ? (textOf(one["detail"], one["message"], one["reason"]) ?? [])
      : (textOf(one) ?? []),
  );

function nameOf({ pointer, field, name, parameter, source }: Named): string {
  return textOf(pointer, field, name, parameter, isNamed(source) ? source["pointer"] : null) ?? "";
}

/**
 * `errors` is a list in RFC 9457's own example; other services send an object by field, and older ones
 * `invalid-params`.
 */
function readFields(complaints: unknown): FieldErrors {
  const fields: FieldErrors = {};
  const add = (name: string, texts: string[]) => {
    if (texts.length > 0) (fields[toFieldName(name)] ??= []).push(...texts);
  };
  if (Array.isArray(complaints))
    // An error without a field gets the empty name: forms show it above all fields.
    for (const one of complaints) add(isNamed(one) ? nameOf(one) : "", textsOf(one));
  else if (isNamed(complaints))
    for (const [name, value] of Object.entries(complaints)) add(name, textsOf(value));
  return fields;
}

type Problem = { message: string | null; fields: FieldErrors };

/** For a token that is no longer accepted, the header may say more than the body: RFC 6750, section 3. */
const tokenProblem = (headers: Headers): string | undefined =>
  /error_description="([^"]+)"/.exec(headers.get("www-authenticate") ?? "")?.[1];

export function readProblem(body: unknown, { headers }: Pick<Response, "headers">): Problem {
  const reason = tokenProblem(headers);
  if (!isNamed(body)) return { message: reason ?? null, fields: {} };
  const { error } = body;
  return {
    message: textOf(
      reason,
      body["message"],
      body["detail"],
      isNamed(error) ? error["message"] : error,
      body["title"],
    ),
    fields: readFields(body["errors"] ?? body["invalid_params"] ?? body["invalid-params"]),
  };
}
