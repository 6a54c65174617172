// Filters errors for the log and for people. Errors of the database contain written values, and so secrets: Drizzle's have all
// values of the query, PostgreSQL's the row or value that was rejected.

/** Fields with names and numbers that describe the error. All other fields are left out. */
const loggedFields = [
  "code",
  "errno",
  "syscall",
  "path",
  "address",
  "port",
  "kind",
  "status",
  "signal",
  "severity",
  "schema",
  "table",
  "column",
  "dataType",
  "constraint",
  "routine",
] as const;

/**
 * Classes of SQLSTATE whose messages only name tables, columns, accounts and limits. Others may quote a value, such as class 22,
 * “data exception”. https://www.postgresql.org/docs/18/errcodes-appendix.html
 */
const plainClasses = new Set("08 0A 23 25 26 28 3D 3F 40 42 53 54 55 57 58 XX".split(" "));

type ErrorLike = { message: string; name?: unknown; stack?: unknown; cause?: unknown };

const isErrorLike = (value: unknown): value is ErrorLike =>
  typeof value === "object" &&
  value !== null &&
  "message" in value &&
  typeof value.message === "string";

/** Whether it is Drizzle's error, whose message contains the query and all its values. */
const isFailedQuery = (error: ErrorLike): error is ErrorLike & { query: string } =>
  "query" in error && typeof error.query === "string" && "params" in error;

/** Whether it is PostgreSQL's error, as `pg` throws it. */
const isDatabaseError = (error: ErrorLike): error is ErrorLike & { code: string } =>
  "severity" in error && "code" in error && /^[0-9A-Z]{5}$/.test(String(error.code));

function plainMessage(error: ErrorLike): string {
  if (isFailedQuery(error)) return `Failed query: ${error.query}`;
  if (isDatabaseError(error) && !plainClasses.has(error.code.slice(0, 2)))
    return `The database refused a value (SQLSTATE ${error.code}).`;
  return error.message;
}

/**
 * Returns the frames of a stack. A stack begins with the message, which may contain any text, even lines that look like frames.
 */
function framesOf({ stack, message }: ErrorLike): string {
  if (typeof stack !== "string") return "";
  const head = `: ${message}\n`;
  const begin = stack.indexOf(head);
  return (begin < 0 ? stack : stack.slice(begin + head.length))
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => `\n${line}`)
    .join("");
}

const typeOf = (error: ErrorLike): string =>
  error instanceof Error
    ? error.constructor.name
    : typeof error.name === "string"
      ? error.name
      : "Error";

type LoggableError = {
  type: string;
  message: string;
  stack: string;
  cause?: unknown;
  errors?: unknown[];
} & { [Field in (typeof loggedFields)[number]]?: string | number };

/** Returns an error for the log: its name, origin and cause, without the values that it carries. */
export function toLoggableError(error: unknown, seen: readonly unknown[] = []): unknown {
  if (!isErrorLike(error)) return typeof error === "string" ? error : String(error);
  if (seen.includes(error)) return "[the same]";
  const known = [...seen, error];
  const message = plainMessage(error);
  const loggable: LoggableError = {
    type: typeOf(error),
    message,
    stack: `${typeOf(error)}: ${message}${framesOf(error)}`,
  };
  for (const field of loggedFields) {
    const value: unknown = Reflect.get(error, field);
    if (typeof value === "string" || typeof value === "number") loggable[field] = value;
  }
  if (error.cause !== undefined) loggable.cause = toLoggableError(error.cause, known);
  if (error instanceof AggregateError)
    loggable.errors = error.errors.map((one) => toLoggableError(one, known));
  return loggable;
}

/** Returns an error as one sentence, for a reason that is stored and shown. */
export function messageOf(error: unknown): string {
  if (!isErrorLike(error)) return String(error);
  // The database's message is more useful than the query, and contains no values either.
  return isFailedQuery(error) && isErrorLike(error.cause)
    ? plainMessage(error.cause)
    : plainMessage(error);
}
