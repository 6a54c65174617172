// Calls the service: takes a row of the operation table, and returns the parsed response or throws an ApiError.
import { firstOperations } from "../../contract/first-operations.ts";
import type {
  ResponseData,
  BodyInput,
  Operation,
  PathParams,
  QueryInput,
} from "../../contract/operation.ts";
import { pathOf } from "../../contract/operation.ts";
import type { OperationName, operations } from "../../contract/operations.ts";
import { readRetryAfter } from "../../contract/retry-after.ts";
import type { servedOperations } from "../../contract/served-operations.ts";
import { ApiError, toApiError } from "./api-error.ts";
import { takePreloaded } from "./preloaded-responses.ts";
import type { Session } from "./kept-session.ts";
import { requestHeaders } from "./request-headers.ts";
import { sessions } from "./session.ts";
import { learnServiceTime, serviceNow } from "../service-clock.ts";

type Rows = typeof operations;
export type ResponseOf<Name extends OperationName> = ResponseData<Rows[Name]>;
export type ParamsOf<Name extends OperationName> = PathParams<Rows[Name]>;
export type QueryOf<Name extends OperationName> = QueryInput<(typeof servedOperations)[Name]>;
type Sent<Name extends OperationName> = {
  query?: QueryOf<Name>;
  body?: BodyInput<(typeof servedOperations)[Name]>;
  /** Aborts the request; callers ignore the resulting error. */
  signal?: AbortSignal | undefined;
};

function toRequest(row: Operation, path: string, sent: Sent<OperationName>, session: Session) {
  const query = new URLSearchParams(sent.query);
  const headers = new Headers(requestHeaders(session));
  return {
    url: `${session.address}${path}${query.size === 0 ? "" : `?${query}`}`,
    init: {
      method: row.method,
      headers,
      credentials: "omit",
      signal: sent.signal ?? null,
      ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
    } satisfies RequestInit,
  };
}

/** A longer requested wait is reported as an error instead. */
const patienceMs = 5_000;
const maxTries = 4;
/** Used where `Retry-After` is absent, or hidden from this page because the service is of another origin. */
const usualWaitMs = 1_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Sends a request, and repeats it while the service responds with 429. Such a service has done nothing, so changes can
 * be repeated.
 */
async function ask(
  { url, init }: ReturnType<typeof toRequest>,
  preloaded: Promise<Response> | null = null,
): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const askedMs = Date.now();
    const asked = tries === 1 && preloaded !== null ? preloaded : fetch(url, init);
    const response = await asked.catch((error: unknown) => {
      if (init.signal?.aborted === true) throw error;
      throw new ApiError("unreachable", "The service is not responding.");
    });
    learnServiceTime(response.headers.get("date"), askedMs);
    if (response.status !== 429 || tries === maxTries) return response;
    const waitMs = readRetryAfter(response.headers.get("retry-after"), serviceNow()) ?? usualWaitMs;
    if (waitMs > patienceMs) return response;
    await pause(waitMs * (1 + Math.random() / 4));
  }
}

/** The loaded rows: those of the first bundle, and those that other modules have added. */
const rows: Partial<Record<OperationName, Operation>> = { ...firstOperations };

/** Adds the rows of a room that the first bundle excludes. Called by the module of its queries. */
export const addOperations = (more: Partial<Record<OperationName, Operation>>): void =>
  void Object.assign(rows, more);

/** @throws ApiError where the module with all rows cannot be loaded */
async function fetchRow(name: OperationName): Promise<Operation> {
  const { operations } = await import("../../contract/operations.ts").catch(() => {
    throw new ApiError("unreachable", "The service is not responding.");
  });
  return operations[name];
}

/** Validates a successful response. A service may use another 2xx status than the contract; only the schema counts. */
async function readResponse(row: Operation, response: Response): Promise<unknown> {
  const listed = row.responses[response.status];
  const schema = listed === undefined ? Object.values(row.responses)[0] : listed;
  if (schema === null || schema === undefined) return undefined;
  // JSON never parses to undefined, so undefined marks a parse error.
  const body: unknown = await response.json().catch(() => undefined);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const { parseLeniently } = await import("./lenient-parser.ts");
  const read = parseLeniently(schema, body);
  if (read !== null) return read.data;
  if (row.isBodyOpen === true) return undefined;
  throw new ApiError(
    body === undefined ? "foreign" : "unreadable",
    "The service returned a response that the dashboard can't read.",
    { requestId: response.headers.get("x-request-id") },
  );
}

/** Calls as a given session, which need not be the current one: connecting tests a token this way. */
export async function callAs<Name extends OperationName>(
  session: Session,
  name: Name,
  params: ParamsOf<Name>,
  sent: Sent<Name> = {},
): Promise<ResponseOf<Name>> {
  const row = rows[name] ?? (await fetchRow(name));
  const path = pathOf<Operation>(row, params);
  const asked = toRequest(row, path, sent, session);
  const preloaded = row.method === "GET" ? takePreloaded(asked.url, session) : null;
  const response = await ask(asked, preloaded);
  if (!response.ok) throw await toApiError(response, serviceNow());
  // `readResponse` checked it with the schema that this type is inferred from.
  return (await readResponse(row, response)) as ResponseOf<Name>;
}

/** Calls as the current session. A 401 ends the session, and the shell shows the connect page. */
export async function call<Name extends OperationName>(
  name: Name,
  params: ParamsOf<Name>,
  sent: Sent<Name> = {},
): Promise<ResponseOf<Name>> {
  const session = sessions.current();
  if (session === null) throw new ApiError(401, "Not connected.");
  try {
    return await callAs(session, name, params, sent);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401)
      sessions.end(session.token, error.tokenCode ?? "refused");
    throw error;
  }
}
