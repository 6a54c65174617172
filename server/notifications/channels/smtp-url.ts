// Reads SMTP_URL: the mail server, its login, and the sender.
import { hostname } from "node:os";

export type SmtpSettings = {
  host: string;
  port: number;
  /**
   * Whether the connection begins with TLS, as with `smtps://`. Otherwise the server and the login decide whether STARTTLS is used.
   */
  isSecure: boolean;
  login: { user: string; password: string } | null;
  /** Null for the default, `quarterdeck@` and the host name. */
  from: { name: string; address: string } | null;
};

/** The sender where SMTP_URL has none. Many host names have no domain, which strict servers refuse. */
export const ownAddress = () => `quarterdeck@${hostname()}`;

const example = "smtp://user:password@mail.example.com:587";

/**
 * @param text `smtp://` or `smtps://`, user and password percent-encoded, maybe `?from=Name
 * <address>`
 * @throws Error that names SMTP_URL and quotes nothing of it, because the password may be in any part of a wrong value
 */
export function readSmtpUrl(text: string): SmtpSettings {
  const url = URL.parse(text.trim());
  if (!url || !["smtp:", "smtps:"].includes(url.protocol) || url.hostname === "")
    throw wrong("is no address of a mail server");
  // An unencoded `/` or `#` in a password would end the host there, and lead to another server.
  if (!["", "/"].includes(url.pathname) || url.hash !== "")
    throw wrong("has more than a host and a port");
  if ((url.username === "") !== (url.password === ""))
    throw wrong("needs both a user and a password, or neither");
  const isSecure = url.protocol === "smtps:";
  return {
    // The brackets of an IPv6 address belong to the URL.
    host: decode(url.hostname).replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? (isSecure ? 465 : 587) : Number(url.port),
    isSecure,
    login:
      url.username === "" ? null : { user: decode(url.username), password: decode(url.password) },
    from: readFrom(url),
  };
}

function readFrom(url: URL): SmtpSettings["from"] {
  // Keeps a plus, which is part of many addresses and would be decoded as a space.
  const query = new URLSearchParams(url.search.replaceAll("+", "%2B"));
  if ([...query.keys()].some((name) => name !== "from"))
    throw wrong("has a part after “?” that is not “from”");
  const from = query.get("from")?.trim();
  if (from === undefined) return null;
  const [, name = "", bracketed, bare] =
    /^(?:([^<>]*)<([^<>]+)>|([^<>]+))$/.exec(from.replace(/\p{Cc}/gu, "")) ?? [];
  const address = (bracketed ?? bare ?? "").trim();
  if (!/^[^\s@,;"()]+@[^\s@,;"()]+$/.test(address))
    throw wrong("has no e-mail address as its “from”; write ?from=Quarterdeck <ops@example.com>");
  return { name: name.trim().replace(/^"(.*)"$/, "$1") || "Quarterdeck", address };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw wrong("has a “%” that is not percent-encoding; write it as %25");
  }
}

const wrong = (words: string) =>
  new Error(
    `SMTP_URL ${words}. Write it as ${example}, or smtps:// for TLS from the start; characters such as / # ? % in user and password are percent-encoded.`,
  );
