// Parses responses of other services that differ from the contract in form but not in meaning. Used only after the
// contract's schema has failed, so it costs nothing for conforming responses.
import type * as z from "zod/mini";

type Container = Record<PropertyKey, unknown>;

const isContainer = (value: unknown): value is Container =>
  typeof value === "object" && value !== null;

/** Some services put a single object into `data`, as lists do with their items. */
const unwrap = (body: unknown): unknown =>
  isContainer(body) && !("id" in body) && isContainer(body["data"]) && !Array.isArray(body["data"])
    ? body["data"]
    : body;

const momentPattern =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?\s?(?:Z|([+-]\d\d):?(\d\d)?)?$/i;

/**
 * Converts ISO 8601 in any time zone to the contract's form, to the microsecond; null for anything else. Without a time
 * zone, UTC is assumed.
 */
export function toUtc(text: string): string | null {
  const found = momentPattern.exec(text);
  if (found === null) return null;
  const [, date, time, fraction = "", hours, minutes = "00"] = found;
  const ms = Date.parse(`${date}T${time}${hours === undefined ? "Z" : `${hours}:${minutes}`}`);
  if (Number.isNaN(ms)) return null;
  return `${new Date(ms).toISOString().slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, "0")}Z`;
}

/**
 * Repairs to try for a value that fails the schema, in this order. Removal is for fields that share only the name with
 * the contract's.
 */
const attempts: readonly ((holder: Container, key: PropertyKey, expected: string) => void)[] = [
  (holder, key) => {
    const value = holder[key];
    const moment = typeof value === "string" ? toUtc(value) : null;
    if (moment !== null) holder[key] = moment;
  },
  (holder, key) => {
    if (!Array.isArray(holder)) delete holder[key];
  },
  (holder, key) => {
    holder[key] = null;
  },
  // Only types with an empty value are filled: a number would be invented.
  (holder, key, expected) => {
    if (expected === "string") holder[key] = "";
    if (expected === "array") holder[key] = [];
  },
];

function holderOf(body: unknown, path: readonly PropertyKey[]): Container | null {
  let holder = body;
  for (const key of path) holder = isContainer(holder) ? holder[key] : undefined;
  return isContainer(holder) ? holder : null;
}

/**
 * @param body parsed JSON; it is modified
 * @returns null where it cannot be interpreted by the schema
 */
export function parseLeniently<Data>(
  schema: z.ZodMiniType<Data>,
  body: unknown,
): { data: Data } | null {
  const content = unwrap(body);
  const tried = new Map<string, number>();
  for (;;) {
    const parsed = schema.safeParse(content);
    if (parsed.success) return { data: parsed.data };
    for (const issue of parsed.error.issues) {
      const place = issue.path.map(String).join(".");
      const count = tried.get(place) ?? 0;
      const holder = holderOf(content, issue.path.slice(0, -1));
      const key = issue.path.at(-1);
      const attempt = attempts[count];
      if (attempt === undefined || holder === null || key === undefined) return null;
      attempt(holder, key, "expected" in issue ? issue.expected : "");
      tried.set(place, count + 1);
    }
  }
}
