import { toError } from "../to-error.ts";
// What goes wrong with a request to somebody else's machine, in the operator's words. Only the host of a URL is
// named: its path may be a secret, as in Slack's.

/**
 * - `refused`: nothing was sent, because it must not be
 * - `unreachable`: there is no such host, or none that takes a connection
 * - `timeout`: the whole exchange took too long
 * - `tls`: the connection is not one to trust
 * - `broken`: there was a connection, but no whole answer
 */
export type SendErrorKind = "refused" | "unreachable" | "timeout" | "tls" | "broken";

export class SendError extends Error {
  override name = "SendError";
  readonly kind: SendErrorKind;
  /** How long it took to fail. */
  durationMs = 0;

  constructor(kind: SendErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

type Row = readonly [SendErrorKind, string];

const untrusted: Row = [
  "tls",
  "has a certificate from an unknown authority. Add the authority with NODE_EXTRA_CA_CERTS.",
];
const selfSigned: Row = [
  "tls",
  "has a self-signed certificate. Add its authority with NODE_EXTRA_CA_CERTS.",
];
const unroutable: Row = ["unreachable", "cannot be reached from here."];
const missing: Row = ["unreachable", "could not be resolved (DNS)."];
const closed: Row = ["broken", "closed the connection without a response."];
const unsendable: Row = [
  "refused",
  "can't be called: a header has characters that HTTP doesn't allow.",
];

const byCode: Record<string, Row> = {
  ENOTFOUND: missing,
  ENODATA: missing,
  EAI_AGAIN: ["unreachable", "could not be resolved: the name server is not responding."],
  ECONNREFUSED: ["unreachable", "refused the connection."],
  ETIMEDOUT: ["unreachable", "timed out."],
  EHOSTUNREACH: unroutable,
  ENETUNREACH: unroutable,
  EADDRNOTAVAIL: unroutable,
  EAFNOSUPPORT: unroutable,
  ECONNRESET: closed,
  EPIPE: closed,
  CERT_HAS_EXPIRED: ["tls", "has a certificate that has expired."],
  CERT_NOT_YET_VALID: [
    "tls",
    "has a certificate that is not valid yet. Check this machine's clock.",
  ],
  CERT_REVOKED: ["tls", "has a certificate that was revoked."],
  DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: ["tls", "has a certificate for another host name."],
  HPE_HEADER_OVERFLOW: ["broken", "returned more than 16 KiB of headers."],
  ERR_INVALID_CHAR: unsendable,
  ERR_INVALID_HTTP_TOKEN: unsendable,
};

const byPrefix: [prefix: RegExp, row: Row][] = [
  [/^HPE_/, ["broken", "returned a response that is not HTTP."]],
  [
    /^(ERR_SSL_|ERR_TLS_|EPROTO$)/,
    ["tls", "doesn't speak TLS. Check whether the URL should begin with http://."],
  ],
  [/^(CERT_|UNABLE_TO_|INVALID_CA|ERROR_IN_CERT)/, ["tls", "has a certificate that is not valid."]],
];

const rowOf = (code: string): Row | undefined =>
  byCode[code] ?? byPrefix.find(([prefix]) => prefix.test(code))?.[1];

/** What an error's code says of whom it is about, to follow their name, e.g. `has a certificate that has expired.`; null = nothing. */
export const networkWords = (code: string): string | null => rowOf(code)?.[1] ?? null;

/** The same of a certificate that this machine has no reason to trust; null = the code is about none. */
export function distrustWords(code: string): string | null {
  const row = byCode[code];
  return row === untrusted || row === selfSigned ? row[1] : null;
}

/**
 * Errors of the network become SendErrors; all others are bugs and stay what they are.
 * @param host as in the URL, e.g. `example.com:8080`
 */
export function diagnoseSendError(error: unknown, host: string): unknown {
  if (error instanceof SendError) return error;
  const { code, message } = toError(error);
  if (typeof code !== "string") return error;
  const [kind, words] = rowOf(code) ?? ["broken", `failed: ${message}`];
  return new SendError(kind, `${host} ${words}`, { cause: error });
}
