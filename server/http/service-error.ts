// The one class of error that a room throws on purpose. Any other error is a bug.
import type { ErrorCode, FieldErrors, TokenCode } from "../../contract/errors.ts";
import { errorMessage } from "../../contract/errors.ts";
import type { InventoryConflict } from "../../contract/inventory/conflict.ts";

const bearerHeader = { "WWW-Authenticate": "Bearer" };

export class ServiceError extends Error {
  readonly code: ErrorCode;
  /** Headers that belong to the response, e.g. `Retry-After`. */
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = "ServiceError";
    this.code = code;
    this.headers = headers;
  }
}

/** A 422, with messages by field name. */
export class InvalidFields extends ServiceError {
  readonly errors: FieldErrors;

  constructor(errors: FieldErrors) {
    super("invalid_fields", "The given data was invalid.");
    this.errors = errors;
  }
}

/** A 409 with details beyond its message. */
export class DetailedConflict extends ServiceError {
  readonly details: Omit<InventoryConflict, "message">;

  constructor(message: string, details: Omit<InventoryConflict, "message">) {
    super("conflict", message);
    this.details = details;
  }
}

/** RFC 6750, 3.1: tells the holder of an expired token why it is refused. */
const expiredHeader = {
  "WWW-Authenticate": 'Bearer error="invalid_token", error_description="The token expired"',
};

/** A 401 for a request whose token is invalid. */
export class RefusedToken extends ServiceError {
  readonly tokenCode: TokenCode;

  constructor(tokenCode: TokenCode, headers: Record<string, string> = {}) {
    super("unauthenticated", errorMessage.unauthenticated, {
      ...(tokenCode === "token_expired" ? expiredHeader : bearerHeader),
      ...headers,
    });
    this.tokenCode = tokenCode;
  }
}

export const notFound = () => new ServiceError("not_found", errorMessage.not_found);
export const conflict = (message: string) => new ServiceError("conflict", message);
export const unauthenticated = (
  headers: Record<string, string> = {},
  message: string = errorMessage.unauthenticated,
) => new ServiceError("unauthenticated", message, { ...bearerHeader, ...headers });
export const unauthorized = () => new ServiceError("unauthorized", errorMessage.unauthorized);
/** A 503. @param retryAfterSeconds when the client should retry */
export const unavailable = (message: string, retryAfterSeconds: number) =>
  new ServiceError("unavailable", message, { "Retry-After": String(retryAfterSeconds) });
