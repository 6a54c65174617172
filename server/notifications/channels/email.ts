// Mail, by the operator's own mail server.
import { once } from "node:events";
import { connect, type LookupFunction, type Socket } from "node:net";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
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

/** Nobody waits for longer until a server has said goodbye. */
const quitMs = 2000;

type EmailOptions = {
  email: string;
  /** `null`: SMTP_URL is not set. */
  smtp: SmtpSettings | null;
  /** Until the server has said hello. */
  connectMs?: number;
  /** For everything. */
  timeoutMs?: number;
  /** The machine's own if not given. */
  lookup?: LookupFunction;
};

/**
 * RFC 5321, section 4.5.3.2.6: a server may have to look through a message before it says that it
 * has it. Whoever leaves sooner sends it once more, or is taken not to want it sent.
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
    // A heavy module, and many an installation sends no mail.
    const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
    const mail = new MailComposer({
      from,
      // As an object it is one address, whatever it holds; a text is split at commas, an
      // envelope's too.
      to: { name: "", address: email },
      subject: oneLine(message.title, maxSubject),
      text: renderText(message),
      html: renderHtml(message),
      // The same in every attempt, so that a mailbox that got one twice can show it once.
      messageId: `<${message.id.replace(/[^\w.-]/g, "-")}@${domainOf(from.address)}>`,
      headers: {
        // Keeps holiday notes and other robots from answering (RFC 3834, section 5; Exchange has
        // its own).
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
    // Without an error there is a result, where there is one at all.
    call((error, result) => (error ? reject(error) : resolve(result as Result))),
  );

/**
 * Does something in a session with the mail server, after the login where SMTP_URL has one.
 * @throws ChannelError, or the signal's reason
 */
async function inSession<Result>(
  smtp: SmtpSettings,
  limits: Limits,
  signal: AbortSignal | null,
  work: (connection: SMTPConnection) => Promise<Result>,
): Promise<Result> {
  // One byte now and then keeps nodemailer's own timeouts away.
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
    opened.on("end", () => end(Object.assign(new Error(), { code: "ECONNECTION" })));
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
    throw diagnose(toError(error), smtp, deadline);
  } finally {
    await leave(connection, isOpen);
  }
}

/** RFC 5321, section 4.1.1.10: nobody closes a connection before QUIT. */
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

/** Nodemailer would ask the name server alone, and not look into /etc/hosts as all other programs do. */
async function openSocket(
  { host, port }: SmtpSettings,
  { connectMs, lookup }: Limits,
  signal: AbortSignal,
): Promise<Socket> {
  // `connect` would go on with one that is aborted already.
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
  // From here on the limits are nodemailer's.
  return socket.setTimeout(0).removeAllListeners("timeout");
}

function connectionOf(
  { host, port, isSecure, login }: SmtpSettings,
  { connectMs, timeoutMs }: Limits,
) {
  // Nobody listens in between here, and a mail server of this machine often has a certificate that
  // nobody signed. Many take a login only after STARTTLS all the same.
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/i.test(host);
  return {
    host,
    port,
    secure: isSecure,
    opportunisticTLS: isHere,
    ...(isHere && !isSecure && { tls: { rejectUnauthorized: false } }),
    // Without it, who stands in between could take STARTTLS off the server's offer and read the
    // password.
    requireTLS: login !== null && !isHere,
    greetingTimeout: connectMs,
    socketTimeout: timeoutMs,
    socketCloseTimeout: 0,
  };
}

/** The sender where SMTP_URL names none. Many a machine's name has no domain, which strict servers refuse. */
const ownAddress = () => `quarterdeck@${hostname()}`;

const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1);

const byCode: Record<string, string> = {
  ECONNECTION: "closed the connection.",
  ECONNRESET: "closed the connection.",
};

/** Commands before those of the message, with the greeting as `CONN`. */
const openingCommands = new Set(["CONN", "EHLO", "HELO"]);

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
  const isOfSender = command === "MAIL FROM" || response.includes(ownAddress());
  return from === null && isOfSender
    ? `rejected the message from ${ownAddress()}; set another sender by ?from= in SMTP_URL`
    : "rejected the message";
}

// What is wrong with the login or the message itself stays wrong; a connection may come back.
const permanentCodes = new Set(["EAUTH", "ENOAUTH", "EENVELOPE", "EMESSAGE", "ECONFIG"]);

function diagnose(error: NodemailerError, smtp: SmtpSettings, deadline: AbortSignal) {
  const server = `The mail server ${smtp.host}:${smtp.port}`;
  if (deadline.aborted) return new ChannelError(`${server} timed out.`);
  const { code = "", response, responseCode, message } = error;
  if (response !== undefined && responseCode !== undefined) {
    const refused = refusedWords(error, smtp);
    return new ChannelError(`${server} ${refused}: ${saying(response, smtp)}`, {
      isPermanent: responseCode >= 500,
    });
  }
  // The network's own code first: nodemailer's own is the same for every trouble of a socket.
  const network = error.originalCode ?? code;
  const told = { code: network, message };
  const known = byCode[network] ?? untoldTls(told, smtp) ?? networkWords(told) ?? byCode[code];
  return new ChannelError(`${server} ${known ?? `cannot be used: ${saying(message, smtp)}`}`, {
    isPermanent: permanentCodes.has(code),
  });
}

/** What is wrong with TLS, which a server can't say itself; null = it is something else. */
function untoldTls(error: { code: string; message: string }, { isSecure }: SmtpSettings) {
  const words = tlsWords(error);
  if (words !== "no TLS") return words;
  return isSecure
    ? "doesn't speak TLS on this port. Try smtp:// in SMTP_URL, which begins without it."
    : "offers STARTTLS, and doesn't speak TLS after it.";
}

/** A server may repeat what it was told, the login too; base64 is how it was told. */
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
