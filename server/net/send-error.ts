import { toError } from "../to-error.ts";
// Errors of requests to other machines, for operators. Messages only contain the host of a URL, because its path may be a secret,
// as in Slack's webhooks.

/**
 * - `refused`: the request is not allowed, and nothing was sent
 * - `unreachable`: the host does not exist, or accepts no connection
 * - `timeout`: the whole exchange took too long
 * - `tls`: the connection cannot be trusted
 * - `broken`: there was a connection, but no complete response
 */
export type SendErrorKind = "refused" | "unreachable" | "timeout" | "tls" | "broken";

export class SendError extends Error {
  override name = "SendError";
  readonly kind: SendErrorKind;
  /** Milliseconds until the failure. */
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
  // Errors of OpenSSL that Node has no code for, which are about weak keys.
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

/** By OpenSSL's reason texts. Alerts come from the other side. */
const byTlsReason: [reason: RegExp, row: Row][] = [
  [/alert protocol version|unsupported protocol|version too low/, oldTls],
  [/certificate required|alert (?:.* )?(?:certificate|unknown ca)/, clientCertificate],
  [/alert (?:handshake failure|insufficient security)|no shared cipher/, noHandshake],
  [/unrecognized name/, ["tls", "has no certificate for this host name."]],
  [/wrong version number|packet length too long|http request|unknown protocol/, noTls],
  [/key too small|md too weak/, weakKey],
];

/** The parts of a connection's error that are read. */
type NetworkError = { code?: unknown; message?: unknown };

/** Returns OpenSSL's reason text; null = the error is not about TLS. Write errors contain the reason only in their message. */
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

/** Returns text to follow the host's name, such as `has a certificate that has expired.`; null = unknown error. */
export const networkWords = (error: NetworkError): string | null => rowOf(error)?.[1] ?? null;

/** The same for TLS only; null = the error is not about TLS, `no TLS` = the server does not use TLS. */
export function tlsWords(error: NetworkError): string | null {
  const row = rowOf(error);
  if (row === noTls) return "no TLS";
  return row?.[0] === "tls" ? row[1] : null;
}

/**
 * Turns network errors into a SendError; returns all others unchanged, because they are bugs.
 * @param host as in the URL, such as `example.com:8080`
 */
export function diagnoseSendError(error: unknown, host: string): unknown {
  if (error instanceof SendError) return error;
  const { code, message } = toError(error);
  if (typeof code !== "string") return error;
  const [kind, words] = rowOf({ code, message }) ?? ["broken", `failed: ${message}`];
  return new SendError(kind, `${host} ${words}`, { cause: error });
}
