// Describes a failed session with the mail server: what it refused, and what to change in SMTP_URL.
import type { NodemailerError } from "nodemailer";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { networkWords, tlsWords } from "../../net/send-error.ts";
import { ChannelError } from "./channel.ts";
import { oneLine } from "./cut.ts";
import { ownAddress, type SmtpSettings } from "./smtp-url.ts";

const byCode: Record<string, string> = {
  ECONNECTION: "closed the connection.",
  ECONNRESET: "closed the connection.",
};

/** Commands before those of a message; `CONN` is the greeting. */
const openingCommands = new Set(["CONN", "EHLO", "HELO"]);

/** Codes by which a server refuses the sender itself, unlike those of a limit or a missing login. */
const senderCodes = new Set([501, 504, 550, 553, 554]);

function refusedWords(
  { code, command = "", response = "", responseCode = 0 }: NodemailerError,
  { login, from }: SmtpSettings,
  offersLogin: boolean,
) {
  if (code === "EAUTH") return "refuses the login of SMTP_URL";
  if (code === "ETLS" && login === null) return "refuses the STARTTLS that it offers";
  if (code === "ETLS")
    return responseCode < 500
      ? "refuses STARTTLS for now, so Quarterdeck doesn't send the password"
      : "doesn't support STARTTLS, so Quarterdeck doesn't send the password; try smtps:// in SMTP_URL";
  if (openingCommands.has(command)) return "refuses the connection";
  // RFC 4954, section 6.
  if (responseCode === 530 && login === null)
    return "requires a login; add user and password to SMTP_URL";
  const isOfSender =
    (command === "MAIL FROM" && senderCodes.has(responseCode)) || response.includes(ownAddress());
  if (from === null && isOfSender)
    return `rejected the message from ${ownAddress()}; set another sender by ?from= in SMTP_URL`;
  return login !== null && !offersLogin
    ? "offers no login on this port, and rejected the message without one"
    : "rejected the message";
}

// Errors of the login or the message itself are permanent, unlike those of the connection.
const permanentCodes = new Set(["EAUTH", "ENOAUTH", "EENVELOPE", "EMESSAGE", "ECONFIG"]);

/**
 * @param deadline aborted where the session took too long
 * @param connection null where there was none yet
 */
export function diagnose(
  error: NodemailerError,
  smtp: SmtpSettings,
  deadline: AbortSignal,
  connection: SMTPConnection | null,
) {
  const server = `The mail server ${smtp.host}:${smtp.port}`;
  const isTimeout = deadline.aborted || error.code === "ETIMEDOUT";
  if (isTimeout && !smtp.isSecure && connection?.lastServerResponse === false)
    return new ChannelError(
      `${server} accepted the connection, but sent no greeting. If it begins with TLS, as on port 465, write smtps:// in SMTP_URL.`,
    );
  if (deadline.aborted) return new ChannelError(`${server} timed out.`);
  const { code = "", response, responseCode, message } = error;
  if (response !== undefined && responseCode !== undefined) {
    const refused = refusedWords(error, smtp, connection?.allowsAuth === true);
    return new ChannelError(`${server} ${refused}: ${saying(response, smtp)}`, {
      isPermanent: responseCode >= 500,
    });
  }
  // The code of the network first, because nodemailer's is the same for all errors of a socket.
  const network = error.originalCode ?? code;
  // With PIPELINING, nodemailer reports a refusal only once the rest is answered; Exim's “drop” refuses and disconnects.
  const last = connection?.lastServerResponse || "";
  if (network in byCode && /^[45]/.test(last))
    return new ChannelError(`${server} closed the connection after: ${saying(last, smtp)}`, {
      isPermanent: last.startsWith("5"),
    });
  const told = { code: network, message };
  const known = byCode[network] ?? untoldTls(told, smtp) ?? networkWords(told) ?? byCode[code];
  return new ChannelError(`${server} ${known ?? `cannot be used: ${saying(message, smtp)}`}`, {
    isPermanent: permanentCodes.has(code),
  });
}

/** Returns a message for an error of TLS, about which the server sends no text; null for other errors. */
function untoldTls(error: { code: string; message: string }, { isSecure }: SmtpSettings) {
  const words = tlsWords(error);
  if (words !== "no TLS") return words;
  return isSecure
    ? "doesn't speak TLS on this port. Try smtp:// in SMTP_URL, which begins without it."
    : "offers STARTTLS, and doesn't speak TLS after it.";
}

/** Removes the login, also in base64, from the server's words, because a server may repeat what it received. */
function saying(words: string, { login }: SmtpSettings): string {
  if (!login) return oneLine(words, 300);
  const { user, password } = login;
  return oneLine(
    [`\0${user}\0${password}`, password]
      .flatMap((secret) => [Buffer.from(secret).toString("base64"), secret])
      .reduce((rest, secret) => rest.replaceAll(secret, "…"), words),
    300,
  );
}
