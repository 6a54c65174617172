// What S3-compatible storage says of a request, in the operator's words. No key stands in any of them.
import { StorageError } from "./storage.ts";
import { toError } from "../to-error.ts";

type SdkError = Error & {
  code?: string;
  $metadata?: { httpStatusCode?: number; attempts?: number };
};

const noBucket = "has no such bucket. Create it, or correct the bucket in the inventory.";

const byName: Record<string, string> = {
  InvalidAccessKeyId: "does not know the access key. Correct access_key in the inventory.",
  SignatureDoesNotMatch: "refuses the secret key. Correct secret_key in the inventory.",
  NoSuchBucket: noBucket,
  AccessDenied: "denies the access. Give the key the right to put, get, list and delete there.",
  RequestTimeTooSkewed: "says that this machine's clock is wrong. Set it, e.g. by NTP.",
  NoSuchKey: "no longer has the file.",
  TimeoutError: "timed out.",
};

const byCode: Record<string, string> = {
  ENOTFOUND: "could not be resolved (DNS). Correct the endpoint in the inventory.",
  ECONNREFUSED: "refused the connection.",
  ECONNRESET: "closed the connection.",
  EPIPE: "closed the connection.",
  ETIMEDOUT: "timed out.",
  EHOSTUNREACH: "cannot be reached from here.",
  CERT_HAS_EXPIRED: "has a certificate that has expired.",
};

export const bucketMissing = (place: string): StorageError =>
  new StorageError(`${place} ${noBucket}`);

export const isMissingObject = (error: unknown): boolean => {
  const { name, $metadata }: SdkError = toError(error);
  return name === "NotFound" || name === "NoSuchKey" || $metadata?.httpStatusCode === 404;
};

/** The key is known, and may not do that. */
export function isDenied(error: unknown): boolean {
  const { name, $metadata }: SdkError = toError(error);
  return $metadata?.httpStatusCode === 403 && (name === "AccessDenied" || !(name in byName));
}

/** The service took the request and does not do what it asks for. */
export function isRefused(error: unknown): boolean {
  const { $metadata }: SdkError = toError(error);
  const status = $metadata?.httpStatusCode ?? 0;
  return (status >= 400 && status < 500) || status === 501;
}

/** Of a question for a bucket's object lock: it has none, or its service knows none. */
export function isWithoutLocks(error: unknown): boolean {
  const { name, $metadata }: SdkError = toError(error);
  const status = $metadata?.httpStatusCode ?? 0;
  return name === "ObjectLockConfigurationNotFoundError" || [400, 405, 501].includes(status);
}

/** Errors of the storage become StorageErrors; all others, e.g. of what was to be stored, stay what they are. */
export function diagnoseS3Error(error: unknown, place: string): unknown {
  const { name, code, message, $metadata }: SdkError = toError(error);
  const status = $metadata?.httpStatusCode;
  const words =
    // The code first: the SDK calls a broken connection a TimeoutError.
    (code === undefined ? undefined : byCode[code]) ??
    byName[name] ??
    (status === 403 ? byName["AccessDenied"] : undefined) ??
    (status !== undefined && status >= 500
      ? `returned ${status}${($metadata?.attempts ?? 1) > 1 ? `, ${$metadata?.attempts} times` : ""}.`
      : undefined) ??
    (status === undefined ? undefined : `returned ${status}: ${message}`);
  return words === undefined ? error : new StorageError(`${place} ${words}`, { cause: error });
}
