// Translates errors of S3-compatible storage for operators. No message contains a key.
import { networkWords } from "../net/send-error.ts";
import { StorageError } from "./storage.ts";
import { toError } from "../to-error.ts";

type SdkError = Error & {
  code?: string;
  $metadata?: { httpStatusCode?: number; attempts?: number };
};

/** What messages call the settings of a bucket, by where they came from. */
export type S3Settings = {
  bucket: string;
  accessKey: string;
  secretKey: string;
  endpoint: string;
  regionOrEndpoint: string;
};

export const inInventory: S3Settings = {
  bucket: "the bucket in the inventory",
  accessKey: "access_key in the inventory",
  secretKey: "secret_key in the inventory",
  endpoint: "the endpoint in the inventory",
  regionOrEndpoint: "the region or the endpoint in the inventory",
};

const noBucket = (settings: S3Settings) =>
  `has no such bucket. Create it, or correct ${settings.bucket}.`;
const full = "has no space left. Free some space, raise its quota, or delete old backups.";

type Words = string | ((settings: S3Settings) => string);

const byName: Record<string, Words> = {
  InvalidAccessKeyId: (settings) => `does not know the access key. Correct ${settings.accessKey}.`,
  SignatureDoesNotMatch: (settings) => `refuses the secret key. Correct ${settings.secretKey}.`,
  NoSuchBucket: noBucket,
  PermanentRedirect: (settings) => `is in another region. Correct ${settings.regionOrEndpoint}.`,
  AccessDenied: "denies the access. Give the key the right to put, get, list and delete there.",
  RequestTimeTooSkewed: "says that this machine's clock is wrong. Set it, e.g. by NTP.",
  NoSuchKey: "no longer has the file.",
  InvalidObjectState:
    "has moved the file to an archive. Restore the file from there, then try again, and leave backups out of the lifecycle rule that moved it.",
  TimeoutError: "timed out.",
  QuotaExceeded: full,
  XMinioAdminBucketQuotaExceeded: full,
  XMinioStorageFull: full,
};

/** Errors of S3 whose advice differs from that of other connections. */
const byCode: Record<string, Words> = {
  ENOTFOUND: (settings) => `could not be resolved (DNS). Correct ${settings.endpoint}.`,
  ECONNRESET: "closed the connection.",
  EPIPE: "closed the connection.",
};

/** A bucket in messages: its name and address, and where its settings came from. */
export type S3Place = { place: string; settings: S3Settings };

export const bucketMissing = ({ place, settings }: S3Place): StorageError =>
  new StorageError(`${place} ${noBucket(settings)}`);

export const isMissingObject = (error: unknown): boolean => {
  const { name, $metadata }: SdkError = toError(error);
  return name === "NotFound" || name === "NoSuchKey" || $metadata?.httpStatusCode === 404;
};

/** Whether the credentials are valid, but lack the permission. */
export function isDenied(error: unknown): boolean {
  const { name, $metadata }: SdkError = toError(error);
  return $metadata?.httpStatusCode === 403 && (name === "AccessDenied" || !(name in byName));
}

/** Whether the service understood the request and refuses it. */
export function isRefused(error: unknown): boolean {
  const { $metadata }: SdkError = toError(error);
  const status = $metadata?.httpStatusCode ?? 0;
  return (status >= 400 && status < 500) || status === 501;
}

/** Whether an error about a bucket's object lock means that the bucket, or its service, has none. */
export function isWithoutLocks(error: unknown): boolean {
  const { name, $metadata }: SdkError = toError(error);
  const status = $metadata?.httpStatusCode ?? 0;
  return name === "ObjectLockConfigurationNotFoundError" || [400, 405, 501].includes(status);
}

/**
 * Returns the service's own message beside a status. The SDK substitutes its own where the service sent none, or not in S3's
 * format.
 */
const saidIn = (message: string, { regionOrEndpoint }: S3Settings): string =>
  /^UnknownError$|Deserialization error/.test(message)
    ? `, and doesn't say why. Check ${regionOrEndpoint}.`
    : `: ${message}`;

/** Turns errors of the storage into a StorageError; returns all others unchanged, such as those of the content. */
export function diagnoseS3Error(error: unknown, { place, settings }: S3Place): unknown {
  const { name, code, message, $metadata }: SdkError = toError(error);
  const status = $metadata?.httpStatusCode;
  const words =
    // The code is checked first, because the SDK names a broken connection TimeoutError.
    (code === undefined ? undefined : (byCode[code] ?? networkWords({ code, message }))) ??
    byName[name] ??
    (status === 403 ? byName["AccessDenied"] : undefined) ??
    (status === 507 ? full : undefined) ??
    (status !== undefined && status >= 500
      ? `returned ${status}${($metadata?.attempts ?? 1) > 1 ? `, ${$metadata?.attempts} times` : ""}.`
      : undefined) ??
    (status === undefined ? undefined : `returned ${status}${saidIn(message, settings)}`);
  if (words === undefined) return error;
  const text = typeof words === "string" ? words : words(settings);
  return new StorageError(`${place} ${text}`, { cause: error });
}
