// Turns errors into responses, in one place.
import type { Context } from "hono";
import type { Logger } from "pino";
import { errorMessage, errorStatus, toFieldErrorsBody } from "../../contract/errors.ts";
import type { ApiEnvironment } from "./every-request.ts";
import { describeDatabaseError } from "../store/database-error.ts";
import {
  DetailedConflict,
  InvalidFields,
  RefusedToken,
  ServiceError,
  unavailable,
} from "./service-error.ts";

/** An unexpected error becomes a 500 that shows only its request id; the log has the details. */
export function handleError(error: Error, c: Context<ApiEnvironment>, log: Logger): Response {
  const known = toServiceError(error);
  if (known === null) {
    const request_id = c.get("requestId");
    log.error(
      { err: error, request_id, method: c.req.method, path: c.req.path },
      "a request failed",
    );
    return c.json({ message: errorMessage.server_error, request_id }, 500);
  }
  if (known.code === "unavailable")
    log.warn({ err: error, request_id: c.get("requestId") }, "a request could not be served");
  for (const [name, value] of Object.entries(known.headers)) c.header(name, value);
  return c.json(bodyOf(known), errorStatus[known.code]);
}

function bodyOf(error: ServiceError) {
  if (error instanceof InvalidFields) return toFieldErrorsBody(error.errors);
  const { message } = error;
  if (error instanceof DetailedConflict) return { message, ...error.details };
  return error instanceof RefusedToken ? { message, code: error.tokenCode } : { message };
}

function toServiceError(error: Error): ServiceError | null {
  if (error instanceof ServiceError) return error;
  const diagnosis = describeDatabaseError(error);
  return diagnosis === null ? null : unavailable(diagnosis, 5);
}
