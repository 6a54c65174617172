// Sends mail through the server of SMTP_URL.
import { once } from "node:events";
import { connect, type LookupFunction, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { domainToASCII } from "node:url";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { type Channel, ChannelError } from "./channel.ts";
import { oneLine } from "./cut.ts";
import { renderHtml, renderText } from "./email-body.ts";
import { diagnose } from "./email-diagnosis.ts";
import { ownAddress, type SmtpSettings } from "./smtp-url.ts";
import { tidyMessage } from "./tidy-message.ts";
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
    const limits = { connectMs, timeoutMs: deliveryMs, lookup };
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
 * @returns whether the server offers a login on this port
 * @throws ChannelError
 */
export const tryMailServer = (smtp: SmtpSettings, timeoutMs: number): Promise<boolean> =>
  inSession(smtp, { connectMs: timeoutMs, timeoutMs }, null, async ({ allowsAuth }) => allowsAuth);

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
    refuseUnsupportedSender(smtp, opened);
    return work(opened);
  };
  ending.addEventListener("abort", () => end(ending.reason), { once: true });
  try {
    return await Promise.race([converse(), over]);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ChannelError) throw error;
    throw diagnose(toError(error), smtp, deadline, connection);
  } finally {
    await leave(connection, isOpen);
  }
}

/** RFC 6531: only a server that offers SMTPUTF8 takes such an address. nodemailer would send it to any other as it is. */
function refuseUnsupportedSender(
  { host, port, from }: SmtpSettings,
  connection: SMTPConnection,
): void {
  if (from === null || /^\p{ASCII}*@/u.test(from.address)) return;
  // The types lack what nodemailer has read from the response to EHLO.
  const { _supportedExtensions } = connection as unknown as { _supportedExtensions: string[] };
  if (_supportedExtensions.includes("SMTPUTF8")) return;
  throw new ChannelError(
    `The mail server ${host}:${port} doesn't accept the sender ${from.address}, because it doesn't support SMTPUTF8. Set ?from= in SMTP_URL to an address with only ASCII characters before the @.`,
    { isPermanent: true },
  );
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

function domainOf(address: string): string {
  const domain = address.slice(address.lastIndexOf("@") + 1);
  // Empty for an address literal, such as [192.0.2.1].
  return domainToASCII(domain) || domain;
}
