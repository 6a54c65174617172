// A real mail server on loopback that records mails, and can be set to refuse one.
import { once } from "node:events";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { portOf } from "../../../testing/port-of.ts";

type ReceivedMail = {
  from: string;
  to: string[];
  user: string | null;
  /** By lowercase name; encoded words are decoded. */
  headers: Map<string, string>;
  plain: string;
  html: string;
};

type Refusal = { at: "sender" | "recipient" | "data" | "login"; code: number; words: string };

export type MailServer = {
  port: number;
  mails: ReceivedMail[];
  /** Number of login attempts. */
  readonly logins: number;
  refuseNext(refusal: Refusal): void;
  /** Delays the confirmation of the next message until the returned function is called. */
  hangNext(): () => void;
  /** Resolves once a message was received completely. */
  nextMail(): Promise<unknown>;
  close(): Promise<void>;
};

type MailServerOptions = {
  /** Required login; by default, none is required. */
  login?: { user: string; password: string };
  /** Whether the server does not support STARTTLS. */
  isPlain?: boolean;
  /** Whether the server accepts a login only over TLS. */
  needsTls?: boolean;
  /** Whether the server offers no login. */
  hasNoLogin?: boolean;
  /** Whether the server takes no addresses beyond ASCII. */
  isAscii?: boolean;
};

export async function startMailServer({
  login,
  isPlain = false,
  needsTls = false,
  hasNoLogin = false,
  isAscii = false,
}: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const refusals: Refusal[] = [];
  let hanging = Promise.resolve();
  let logins = 0;

  const takeRefusal = (at: Refusal["at"]) => {
    const index = refusals.findIndex((refusal) => refusal.at === at);
    const [refusal] = index === -1 ? [] : refusals.splice(index, 1);
    return refusal && Object.assign(new Error(refusal.words), { responseCode: refusal.code });
  };

  const server = new SMTPServer({
    authOptional: login === undefined,
    // STARTTLS is offered as well, with a self-signed certificate, as local mail servers often have it.
    allowInsecureAuth: !needsTls,
    disabledCommands: [...(isPlain ? ["STARTTLS"] : []), ...(hasNoLogin ? ["AUTH"] : [])],
    hideSMTPUTF8: isAscii,
    // Otherwise it would log a warning about the certificate.
    logger: false,
    disableReverseLookup: true,
    closeTimeout: 100,
    onAuth({ username, password }, _session, done) {
      logins += 1;
      const refusal = takeRefusal("login");
      if (refusal) return done(refusal);
      if (login && username === login.user && password === login.password)
        return done(null, { user: username });
      return done(
        Object.assign(new Error("5.7.8 Authentication credentials invalid"), { responseCode: 535 }),
      );
    },
    onMailFrom: (_address, _session, done) => done(takeRefusal("sender")),
    onRcptTo: (_address, _session, done) => done(takeRefusal("recipient")),
    onData(stream, { envelope, user }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
      const take = () => {
        const refusal = takeRefusal("data");
        if (refusal) return done(refusal);
        const { mailFrom, rcptTo } = envelope;
        mails.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: user || null,
          ...readMail(Buffer.concat(chunks).toString()),
        });
        // The second argument is the text of the response, which the types do not declare.
        return (done as (error: null, words: string) => void)(null, "2.0.0 Ok: queued as 4F1");
      };
      stream.on("end", () => {
        server.emit("mail");
        void hanging.then(take);
        hanging = Promise.resolve();
      });
    },
  } satisfies SMTPServerOptions);
  // Some tests disconnect the client in the middle of a session.
  server.on("error", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");

  return {
    port: portOf(server.server),
    mails,
    get logins() {
      return logins;
    },
    refuseNext: (refusal) => void refusals.push(refusal),
    hangNext() {
      const { promise, resolve } = Promise.withResolvers<void>();
      hanging = promise;
      return resolve;
    },
    nextMail: () => once(server, "mail"),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

function readMail(raw: string) {
  const { headers, body } = readPart(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers.get("content-type") ?? "")?.[1] ?? "";
  const parts = body.split(`--${boundary}`).slice(1, -1).map(readPart);
  const ofType = (type: string) =>
    parts.find((part) => part.headers.get("content-type")?.startsWith(type))?.body ?? "";
  return { headers, plain: ofType("text/plain"), html: ofType("text/html") };
}

function readPart(raw: string) {
  const [head = "", ...rest] = raw.replace(/^\r\n/, "").split("\r\n\r\n");
  const headers = new Map(
    head
      // A line that begins with a space continues the previous one.
      .replace(/\r\n[ \t]+/g, " ")
      .split("\r\n")
      .map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())];
      }),
  );
  const body = rest.join("\r\n\r\n");
  return { headers, body: decodeBody(body, headers.get("content-transfer-encoding") ?? "7bit") };
}

function decodeBody(body: string, encoding: string): string {
  if (encoding === "base64") return Buffer.from(body, "base64").toString();
  if (encoding === "quoted-printable") return decodeQuoted(body.replace(/=\r\n/g, ""));
  return body;
}

const decodeQuoted = (text: string) =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    "latin1",
  ).toString();

/** Decodes encoded words (RFC 2047), and ignores the space between two of them. */
const decodeWords = (text: string) =>
  text
    .replace(/\?=\s+=\?/g, "?==?")
    .replace(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === "B"
        ? Buffer.from(word, "base64").toString()
        : decodeQuoted(word.replaceAll("_", " ")),
    );
