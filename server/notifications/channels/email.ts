// Mail, by the operator's own mail server.
import { once } from "node:events";
import { connect, type LookupFunction, type Socket } from "node:net";
import { hostname } from "node:os";
import type { NodemailerError } from "nodemailer";
import { type Channel, ChannelError } from "./channel.ts";
import { oneLine } from "./cut.ts";
import { renderHtml, renderText } from "./email-body.ts";
import type { SmtpSettings } from "./smtp-url.ts";
import { tidyMessage } from "./tidy-message.ts";
import { networkWords, tlsWords } from "../../net/send-error.ts";
import { toError } from "../../to-error.ts";

const maxSubject = 150;

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
    const from = smtp.from ?? { name: "Quarterdeck", address: `quarterdeck@${hostname()}` };
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const transport = await connectLater(smtp, { connectMs, timeoutMs, lookup });
      const { accepted, response } = await transport.sendMail({
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
        signal: AbortSignal.any([signal, deadline]),
      });
      if (accepted.length === 1) return oneLine(response, 200);
      throw new ChannelError("The mail server accepted no recipient.", { isPermanent: true });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ChannelError) throw error;
      throw diagnose(toError(error), smtp, deadline);
    }
  },
});

/**
 * Connects to the mail server, logs in where SMTP_URL has a login, and sends nothing.
 * @throws ChannelError
 */
export async function tryMailServer(smtp: SmtpSettings, timeoutMs: number): Promise<void> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection");
  const limits = { connectMs: timeoutMs, timeoutMs };
  const socket = await openSocket(smtp, limits).catch((error: unknown) => {
    throw diagnose(toError(error), smtp, deadline);
  });
  // `verify` of a transport can't be ended, and one byte now and then keeps its timeouts away.
  const connection = new SMTPConnection({ ...connectionOf(smtp, limits), connection: socket });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const end = (error?: Error | null) => (error ? reject(error) : resolve());
  connection.on("error", end);
  connection.on("end", () => end(Object.assign(new Error(), { code: "ECONNECTION" })));
  deadline.addEventListener("abort", () => end(toError(deadline.reason)), { once: true });
  connection.connect((error) => {
    const { login } = smtp;
    if (error || login === null || !connection.allowsAuth) return end(error);
    connection.login({ user: login.user, pass: login.password }, end);
  });
  try {
    await promise;
  } catch (error) {
    throw diagnose(toError(error), smtp, deadline);
  } finally {
    connection.close();
  }
}

type Limits = { connectMs: number; timeoutMs: number; lookup?: LookupFunction | undefined };

/** Nodemailer would ask the name server alone, and not look into /etc/hosts as all other programs do. */
async function openSocket(
  { host, port }: SmtpSettings,
  { connectMs, lookup }: Limits,
): Promise<Socket> {
  const socket = connect({
    host,
    port,
    lookup,
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

async function connectLater(smtp: SmtpSettings, limits: Limits) {
  // A heavy module, and many an installation sends no mail.
  const { createTransport } = await import("nodemailer");
  const { login } = smtp;
  return createTransport({
    ...connectionOf(smtp, limits),
    getSocket: (_options, done) =>
      void openSocket(smtp, limits).then(
        (connection) => done(null, { connection }),
        (error: unknown) => done(toError(error)),
      ),
    ...(login && { auth: { user: login.user, pass: login.password } }),
  });
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

const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1);

const byCode: Record<string, string> = {
  ECONNECTION: "closed the connection.",
  ECONNRESET: "closed the connection.",
};

/** Commands before those of the message, with the greeting as `CONN`. */
const openingCommands = new Set(["CONN", "EHLO", "HELO"]);

function refusedWords(
  { code, command = "", responseCode = 0 }: NodemailerError,
  { login }: SmtpSettings,
) {
  if (code === "EAUTH") return "refuses the login of SMTP_URL";
  if (code === "ETLS" && login === null) return "refuses the STARTTLS that it offers";
  if (code === "ETLS")
    return responseCode < 500
      ? "refuses STARTTLS for now, so Quarterdeck doesn't send the password"
      : "doesn't support STARTTLS, so Quarterdeck doesn't send the password; try smtps:// in SMTP_URL";
  return openingCommands.has(command) ? "refuses the connection" : "rejected the message";
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
