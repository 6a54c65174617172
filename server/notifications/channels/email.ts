// Sends mail through the server of SMTP_URL.
import { once } from "node:events";
import { connect, type LookupFunction, type Socket } from "node:net";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { domainToASCII } from "node:url";
import type { NodemailerError } from "nodemailer";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { type Channel, ChannelError } from "./channel.ts";
import { oneLine } from "./cut.ts";
import { renderHtml, renderText } from "./email-body.ts";
import type { SmtpSettings } from "./smtp-url.ts";
import { tidyMessage } from "./tidy-message.ts";
import { networkWords, tlsWords } from "../../net/send-error.ts";
import { toError } from "../../to-error.ts";

const maxSubject = 150;

/** Time limit of QUIT. */
const quitMs = 2000;

type EmailOptions = {
  email: string;
  /** Null where SMTP_URL is not set. */
  smtp: SmtpSettings | null;
  /** Time limit until the server has sent its greeting. */
  connectMs?: number;
  /** Time limit for the whole session. */
  timeoutMs?: number;
  /** By default, the machine's own resolver. */
  lookup?: LookupFunction;
};

/**
 * RFC 5321, section 4.5.3.2.6: a server may process a message before it confirms it. A client that disconnects sooner sends the
 * message again, or makes the server drop it.
 */
const deliveryMs = 10 * 60_000;

export const createEmailChannel = ({
  email,
  smtp,
  connectMs = 15_000,
  timeoutMs = deliveryMs,
  lookup,
}: EmailOptions): Channel => ({
  async send(original, signal) {
    if (!smtp)
      throw new ChannelError(
        "Email isn't configured: SMTP_URL is not set. Set SMTP_URL, e.g. to smtp://user:password@mail.example.com:587, and restart the service.",
        { isPermanent: true },
      );
    signal.throwIfAborted();
    const message = tidyMessage(original);
    const from = smtp.from ?? { name: "Quarterdeck", address: ownAddress() };
    // Loaded when needed: the module is large, and many installations send no mail.
    const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
    const mail = new MailComposer({
      from,
      // An object is always one address. Strings are split at commas, in the envelope as well.
      to: { name: "", address: email },
      subject: oneLine(message.title, maxSubject),
      text: renderText(message),
      html: renderHtml(message),
      // The same in every attempt, so that mailboxes can merge duplicates.
      messageId: `<${message.id.replace(/[^\w.-]/g, "-")}@${domainOf(from.address)}>`,
      headers: {
        // Suppress automatic replies (RFC 3834, section 5; Exchange has a header of its own).
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
      },
      disableFileAccess: true,
      disableUrlAccess: true,
    }).compile();
    const whole = await mail.build();
    const limits = { connectMs, timeoutMs, lookup };
    const { accepted, response } = await inSession(smtp, limits, signal, (connection) =>
      step<SMTPConnection.SentMessageInfo>((done) =>
        connection.send(mail.getEnvelope(), whole, done),
      ),
    );
    if (accepted.length === 1) return oneLine(response, 200);
    throw new ChannelError("The mail server accepted no recipient.", { isPermanent: true });
  },
});

/**
 * Connects to the mail server, logs in where SMTP_URL has a login, and sends nothing.
 * @throws ChannelError
 */
export const tryMailServer = (smtp: SmtpSettings, timeoutMs: number): Promise<void> =>
  inSession(smtp, { connectMs: timeoutMs, timeoutMs }, null, async () => undefined);

/** Turns a callback of nodemailer into a promise. */
const step = <Result = void>(
  call: (done: (error?: Error | null, result?: Result) => void) => void,
): Promise<Result> =>
  new Promise((resolve, reject) =>
    // Without an error, nodemailer passes the result, if the call has one.
    call((error, result) => (error ? reject(error) : resolve(result as Result))),
  );

/**
 * Runs `work` in a session with the mail server, after the login where SMTP_URL has one.
 * @throws ChannelError, or the signal's reason
 */
async function inSession<Result>(
  smtp: SmtpSettings,
  limits: Limits,
  signal: AbortSignal | null,
  work: (connection: SMTPConnection) => Promise<Result>,
): Promise<Result> {
  // The timeouts of nodemailer restart with every byte.
  const deadline = AbortSignal.timeout(limits.timeoutMs);
  const ending = signal === null ? deadline : AbortSignal.any([deadline, signal]);
  const { promise: over, reject } = Promise.withResolvers<never>();
  let connection: SMTPConnection | null = null;
  let isOpen = true;
  const end = (error: unknown) => {
    isOpen = false;
    reject(error);
  };
  const converse = async () => {
    const { default: Connection } = await import("nodemailer/lib/smtp-connection");
    const socket = await openSocket(smtp, limits, ending);
    const opened = new Connection({ ...connectionOf(smtp, limits), connection: socket });
    connection = opened;
    opened.on("error", end);
    opened.on("end", () => {
      isOpen = false;
      // After a response of 421, nodemailer closes the connection before the failed step has rejected.
      setImmediate(reject, Object.assign(new Error(), { code: "ECONNECTION" }));
    });
    await step((done) => opened.connect(done));
    const { login } = smtp;
    if (login !== null && opened.allowsAuth)
      await step<boolean>((done) => opened.login({ user: login.user, pass: login.password }, done));
    return work(opened);
  };
  ending.addEventListener("abort", () => end(ending.reason), { once: true });
  try {
    return await Promise.race([converse(), over]);
  } catch (error) {
    signal?.throwIfAborted();
    throw diagnose(toError(error), smtp, deadline, connection);
  } finally {
    await leave(connection, isOpen);
  }
}

/** Ends a session by QUIT, as RFC 5321, section 4.1.1.10, requires. */
async function leave(connection: SMTPConnection | null, isOpen: boolean): Promise<void> {
  if (connection === null) return;
  if (isOpen) {
    const ended = once(connection, "end").catch(() => undefined);
    connection.quit();
    await Promise.race([ended, wait(quitMs, undefined, { ref: false })]);
  }
  connection.close();
}

type Limits = { connectMs: number; timeoutMs: number; lookup?: LookupFunction | undefined };

/** Connects by the system's resolver; nodemailer's own ignores /etc/hosts. */
async function openSocket(
  { host, port }: SmtpSettings,
  { connectMs, lookup }: Limits,
  signal: AbortSignal,
): Promise<Socket> {
  // `connect` ignores a signal that is aborted already.
  signal.throwIfAborted();
  const socket = connect({
    host,
    port,
    lookup,
    signal,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 2000,
  });
  socket.setTimeout(connectMs, () =>
    socket.destroy(Object.assign(new Error("timed out"), { code: "ETIMEDOUT" })),
  );
  await once(socket, "connect");
  // From here on, the timeouts of nodemailer apply.
  return socket.setTimeout(0).removeAllListeners("timeout");
}

function connectionOf(
  { host, port, isSecure, login }: SmtpSettings,
  { connectMs, timeoutMs }: Limits,
) {
  // Loopback cannot be intercepted, and a mail server of this machine often has a self-signed certificate, but many require
  // STARTTLS before a login all the same.
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/i.test(host);
  return {
    host,
    port,
    secure: isSecure,
    opportunisticTLS: isHere,
    ...(isHere && !isSecure && { tls: { rejectUnauthorized: false } }),
    // Otherwise a man in the middle could remove STARTTLS from the server's capabilities and read the password.
    requireTLS: login !== null && !isHere,
    greetingTimeout: connectMs,
    socketTimeout: timeoutMs,
    socketCloseTimeout: 0,
  };
}

/** The sender where SMTP_URL has none. Many host names have no domain, which strict servers refuse. */
const ownAddress = () => `quarterdeck@${hostname()}`;

function domainOf(address: string): string {
  const domain = address.slice(address.lastIndexOf("@") + 1);
  // Empty for an address literal, such as [192.0.2.1].
  return domainToASCII(domain) || domain;
}

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
  return from === null && isOfSender
    ? `rejected the message from ${ownAddress()}; set another sender by ?from= in SMTP_URL`
    : "rejected the message";
}

// Errors of the login or the message itself are permanent, unlike those of the connection.
const permanentCodes = new Set(["EAUTH", "ENOAUTH", "EENVELOPE", "EMESSAGE", "ECONFIG"]);

function diagnose(
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
    const refused = refusedWords(error, smtp);
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
