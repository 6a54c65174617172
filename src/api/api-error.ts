// ApiError: the one class of error of calls to the service. Pages match its `status` and show its `message`.
import {
  errorBody,
  errorMessage,
  type FieldErrors,
  type TokenCode,
  unauthenticatedBody,
} from "../../contract/errors.ts";
import { readRetryAfter } from "../../contract/retry-after.ts";

/**
 * An HTTP status; `unreachable` = no response; `unreadable` = the response violates the interface; `foreign` = the
 * response is not JSON, so it comes from another kind of service.
 */
type ApiStatus = number | "unreachable" | "unreadable" | "foreign";

type Details = {
  fields?: FieldErrors;
  tokenCode?: TokenCode | undefined;
  requestId?: string | null;
  retryAfterMs?: number | null;
  body?: unknown;
};

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: ApiStatus;
  /** Validation errors by field. */
  readonly fields: FieldErrors;
  /** Why the token was refused, where the service says so. */
  readonly tokenCode: TokenCode | undefined;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  /** The whole response body, for callers that need more of it. */
  readonly body: unknown;

  constructor(status: ApiStatus, message: string, details: Details = {}) {
    super(message);
    this.status = status;
    this.fields = details.fields ?? {};
    this.tokenCode = details.tokenCode;
    this.requestId = details.requestId ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.body = details.body;
  }
}

export const hasStatus = (error: unknown, status: ApiStatus): boolean =>
  error instanceof ApiError && error.status === status;

/** Whether a service lacks an operation, or has another one at its path. */
export const isMissing = (error: unknown): boolean =>
  ([404, 405, 501, "unreadable", "foreign"] as const).some((status) => hasStatus(error, status));

/** Whether a retry may succeed: no response, too many requests, or a failing service. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === "unreachable" ||
    error.status === 429 ||
    (typeof error.status === "number" && error.status >= 500));

type ErrorDescription = {
  message: string;
  /** Identifies the request in the service's log, which can have details that the response lacks. */
  requestId: string | null;
};

/** For objects that the dashboard has just shown. */
const goneText = "Not found. It may have been deleted meanwhile.";

/** Returns what to show for any thrown value. */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof ApiError))
    return { message: "Something went wrong in the dashboard.", requestId: null };
  const { status, message, requestId } = error;
  const isUnexplained = status === 500 || status === "unreadable" || status === "foreign";
  return {
    message: message === errorMessage.not_found ? goneText : message,
    requestId: isUnexplained ? requestId : null,
  };
}

/** Returns the same as one sentence, where there is no room for more. */
export function messageOf(error: unknown): string {
  const { message, requestId } = describeError(error);
  return requestId === null ? message : `${message.replace(/\.$/, "")} (request id ${requestId}).`;
}

/** Generic texts of the interface, which say neither why nor what to do. */
const bareTexts: ReadonlySet<string> = new Set([
  errorMessage.server_error,
  errorMessage.too_many_requests,
  errorMessage.unauthorized,
]);

/** Shown where the service sends no readable message. */
const fallbackText: Partial<Record<number, string>> = {
  401: "The token isn't valid.",
  403: "The token doesn't have permission for this action.",
  404: errorMessage.not_found,
  409: "The action isn't possible right now.",
  // Limits of the service itself come with a message.
  413: "A proxy in front of the service refuses so large a request. Raise its limit, e.g. client_max_body_size of nginx.",
  422: "Some fields are invalid.",
  429: "Too many requests. Try again in a moment.",
  500: "Something went wrong.",
  503: "The service isn't ready. Try again in a moment.",
};

/** Reads an unsuccessful response. Its body may be anything, for example a proxy's error page. */
export async function toApiError(response: Response, nowMs: number): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  // Loaded on demand; where that fails too, only the status is reported.
  const problem = await import("./problem.ts").then(
    ({ readProblem }) => readProblem(body, response),
    () => null,
  );
  const said = problem?.message ?? null;
  return new ApiError(
    response.status,
    said === null || bareTexts.has(said)
      ? (fallbackText[response.status] ?? `The service returned ${response.status}.`)
      : said,
    {
      fields: problem?.fields ?? {},
      tokenCode: unauthenticatedBody.safeParse(body).data?.code,
      requestId: errorBody.safeParse(body).data?.request_id ?? response.headers.get("x-request-id"),
      retryAfterMs: readRetryAfter(response.headers.get("retry-after"), nowMs),
      body,
    },
  );
}
