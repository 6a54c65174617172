import { toError } from "../to-error.ts";
// What goes wrong with a request to somebody else's machine, in the operator's words. Only the host of a URL is
// named: its path may be a secret, as in Slack's.

/**
 * - `refused`: nothing was sent, because it must not be
 * - `unreachable`: there is no such host, or none that takes a connection
 * - `timeout`: the whole exchange took too long
 * - `tls`: the connection is not one to trust
 * - `broken`: there was a connection, but no whole response
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
const oldTls: Row = [
  "tls",
  "speaks no version of TLS that Quarterdeck accepts, which is 1.2 or newer.",
];
const clientCertificate: Row = [
  "tls",
  "wants a client certificate, which Quarterdeck has none of.",
];
const noHandshake: Row = [
  "tls",
  "refused the TLS handshake: there is no cipher in common, or it wants a client certificate.",
];
const noTls: Row = ["tls", "doesn't speak TLS. Check whether the URL should begin with http://."];
const weakKey: Row = ["tls", "has a certificate with a key or signature that is too weak."];
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
  INVALID_PURPOSE: ["tls", "has a certificate that is not one for servers."],
  // Of those that Node has no name for, which are about weakness.
  UNSPECIFIED: weakKey,
  ERR_TLS_CERT_ALTNAME_INVALID: ["tls", "has a certificate for another host name."],
  HPE_HEADER_OVERFLOW: ["broken", "returned more than 16 KiB of headers."],
  ERR_INVALID_CHAR: unsendable,
  ERR_INVALID_HTTP_TOKEN: unsendable,
};

const byPrefix: [prefix: RegExp, row: Row][] = [
  [/^HPE_|^ERR_HTTP2_/, ["broken", "returned a response that is not HTTP."]],
  [/^(CERT_|UNABLE_TO_|INVALID_CA|ERROR_IN_CERT)/, ["tls", "has a certificate that is not valid."]],
];

/** By what OpenSSL calls the reason. Alerts are the other side's. */
const byTlsReason: [reason: RegExp, row: Row][] = [
  [/alert protocol version|unsupported protocol|version too low/, oldTls],
  [/certificate required|alert (?:.* )?(?:certificate|unknown ca)/, clientCertificate],
  [/alert (?:handshake failure|insufficient security)|no shared cipher/, noHandshake],
  [/unrecognized name/, ["tls", "has no certificate for this host name."]],
  [/wrong version number|packet length too long|http request|unknown protocol/, noTls],
  [/key too small|md too weak/, weakKey],
];

/** What is known of an error of a connection. */
type NetworkError = { code?: unknown; message?: unknown };

/** In OpenSSL's own words; null = the error is not about TLS. Some come as an error of writing, with the reason in their text alone. */
function tlsReasonOf({ code, message }: NetworkError): string | null {
  if (typeof code !== "string" || !/^ERR_(?:SSL|TLS)_|^EPROTO$/.test(code)) return null;
  const told = /:SSL routines:[^:]*:([^:]+):/.exec(typeof message === "string" ? message : "")?.[1];
  if (told !== undefined) return told;
  return code === "EPROTO"
    ? ""
    : code
        .replace(/^ERR_(?:SSL|TLS)_/, "")
        .toLowerCase()
        .replaceAll("_", " ");
}

function rowOf(error: NetworkError): Row | undefined {
  const { code } = error;
  if (typeof code !== "string") return undefined;
  const known = byCode[code] ?? byPrefix.find(([prefix]) => prefix.test(code))?.[1];
  if (known !== undefined) return known;
  const reason = tlsReasonOf(error);
  if (reason === null) return undefined;
  const row = byTlsReason.find(([words]) => words.test(reason))?.[1];
  return row ?? ["tls", `broke off the TLS handshake${reason === "" ? "" : `: ${reason}`}.`];
}

/** What is said of whom an error is about, to follow their name, e.g. `has a certificate that has expired.`; null = nothing. */
export const networkWords = (error: NetworkError): string | null => rowOf(error)?.[1] ?? null;

/** The same of TLS alone; null = the error is not about that, `no TLS` = nobody speaks it there. */
export function tlsWords(error: NetworkError): string | null {
  const row = rowOf(error);
  if (row === noTls) return "no TLS";
  return row?.[0] === "tls" ? row[1] : null;
}

/**
 * Errors of the network become SendErrors; all others are bugs and stay what they are.
 * @param host as in the URL, e.g. `example.com:8080`
 */
export function diagnoseSendError(error: unknown, host: string): unknown {
  if (error instanceof SendError) return error;
  const { code, message } = toError(error);
  if (typeof code !== "string") return error;
  const [kind, words] = rowOf({ code, message }) ?? ["broken", `failed: ${message}`];
  return new SendError(kind, `${host} ${words}`, { cause: error });
}
