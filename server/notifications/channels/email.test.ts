import { once } from "node:events";
import { createServer, type LookupFunction } from "node:net";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { createServer as createTlsServer } from "node:tls";
import { inspect } from "node:util";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { Message } from "./channel.ts";
import { createEmailChannel, tryMailServer } from "./email.ts";
import { readSmtpUrl } from "./smtp-url.ts";
import { startMailServer } from "./testing/mail-server.ts";
import { listen, makeCertificate } from "../../net/testing/receivers.ts";
import { portOf } from "../../testing/port-of.ts";
import { soon } from "../../testing/soon.ts";
import { awfulLine, awfulMessage, awfulReason, isCutOf, plainMessage } from "./testing/messages.ts";

const login = { user: "deck@example.com", password: "p/a#ss:w%rd" };
const calm = new AbortController().signal;

let server: Awaited<ReturnType<typeof startMailServer>>;
beforeEach(async () => {
  server = await startMailServer({ login });
});
afterEach(() => server.close());

type How = { password?: string; signal?: AbortSignal; connectMs?: number };
const send = (message: Message, how: How & { from?: string } = {}) => {
  const { password = login.password, signal = calm, from = "", ...limits } = how;
  const user = `${encodeURIComponent(login.user)}:${encodeURIComponent(password)}`;
  const smtp = readSmtpUrl(`smtp://${user}@127.0.0.1:${server.port}${from}`);
  return createEmailChannel({ email: "oncall@example.com", smtp, ...limits }).send(message, signal);
};
const failure = async (sending: Promise<string>) => {
  const error = await sending.then(
    () => expect.unreachable("the message went through"),
    (error: unknown) => error,
  );
  const shown = inspect(error, { depth: 10, showHidden: true });
  expect(shown).not.toContain(login.password);
  expect(shown).not.toContain(Buffer.from(login.password).toString("base64"));
  return error;
};

/** Replaces the deadline of the next session; returns a function that reaches it. */
function controlDeadline(): () => void {
  const deadline = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValueOnce(deadline.signal);
  onTestFinished(() => timeout.mockRestore());
  return () => deadline.abort(new DOMException("The operation timed out.", "TimeoutError"));
}

test("sends a message as text and as HTML, marked as sent automatically", async () => {
  expect(await send(plainMessage)).toBe("250 2.0.0 Ok: queued as 4F1");
  const [mail] = server.mails;
  expect(mail).toMatchObject({
    from: `quarterdeck@${hostname()}`,
    to: ["oncall@example.com"],
    user: login.user,
  });
  expect(Object.fromEntries(mail?.headers ?? [])).toMatchObject({
    from: `Quarterdeck <quarterdeck@${hostname()}>`,
    to: "oncall@example.com",
    subject: plainMessage.title,
    "message-id": `<msg_2aF9k@${hostname()}>`,
    "auto-submitted": "auto-generated",
    "x-auto-response-suppress": "All",
  });
  expect(mail?.plain.replaceAll("\r\n", "\n").trim()).toBe(
    `Backup failed: Shop on web-1

Time: 2026-01-31 09:30 UTC
Took: 2 min 4 s

pg_dump: error: connection to server failed
is the server running?

http://localhost:4280/backups/12`,
  );
  expect(mail?.html).toContain('<a href="http://localhost:4280/backups/12">');
});

test("uses the sender of SMTP_URL", async () => {
  await send(plainMessage, { from: "?from=Ops, Berlin <ops+deck@example.com>" });
  expect(server.mails[0]).toMatchObject({ from: "ops+deck@example.com" });
  expect(server.mails[0]?.headers.get("from")).toBe('"Ops, Berlin" <ops+deck@example.com>');
  expect(server.mails[0]?.headers.get("message-id")).toBe("<msg_2aF9k@example.com>");
});

test("has only ASCII in its addresses, as RFC 5322 requires", async () => {
  await send(plainMessage, { from: "?from=Büro <ops@bücher.example>" });
  expect(server.mails[0]?.headers.get("from")).toBe("Büro <ops@xn--bcher-kva.example>");
  expect(server.mails[0]?.headers.get("message-id")).toBe("<msg_2aF9k@xn--bcher-kva.example>");
});

test("sends 50 KB of markup, line breaks and emoji unchanged, without adding a header", async () => {
  await send(awfulMessage);
  const [mail] = server.mails;
  const subject = mail?.headers.get("subject") ?? "";
  expect(subject.length).toBeLessThanOrEqual(150);
  expect(isCutOf(subject, awfulLine)).toBe(true);
  expect(mail?.headers.has("bcc")).toBe(false);
  expect(mail?.to).toEqual(["oncall@example.com"]);
  expect(mail?.headers.get("message-id")).toMatch(/^<msg_[\w.-]+@[\w.-]+>$/);
  const reason = mail?.plain.replaceAll("\r\n", "\n").trim().split("\n\n").at(-2) ?? "";
  expect(isCutOf(reason, awfulReason)).toBe(true);
  const [, pre = ""] = /<pre[^>]*>([^<>]*)<\/pre>/.exec(mail?.html ?? "") ?? [];
  const shown = pre
    .replaceAll("\r\n", "\n")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
  expect(isCutOf(shown, awfulReason)).toBe(true);
});

test("an address is one recipient, whatever it contains", async () => {
  const email = "a@example.com, eve@example.com";
  const smtp = readSmtpUrl(`smtp://127.0.0.1:${server.port}`);
  const channel = createEmailChannel({ email, smtp: { ...smtp, login } });
  expect(await failure(channel.send(plainMessage, calm))).toMatchObject({
    message: expect.stringMatching(/501 .*recipient/),
    isPermanent: true,
  });
  expect(server.mails).toEqual([]);
});

test.each([
  ["recipient", 550, "5.1.1 User unknown", true],
  ["recipient", 450, "4.2.0 Greylisted, try again", false],
  ["data", 554, "5.7.1 Looks like spam", true],
  ["data", 452, "4.3.1 No room", false],
  ["login", 535, "5.7.8 Wrong p/a#ss:w%rd", true],
  ["login", 454, "4.7.0 Temporary authentication failure", false],
] as const)(
  "a refusal of the %s with %i %s is permanent: %s",
  async (at, code, words, isPermanent) => {
    server.refuseNext({ at, code, words });
    expect(await failure(send(plainMessage))).toMatchObject({
      name: "ChannelError",
      message: expect.stringContaining(`${code} ${words.replace(login.password, "…")}`),
      isPermanent,
    });
    expect(server.mails).toEqual([]);
  },
);

test.each(["sender", "recipient"] as const)(
  "a refused sender at the %s is reported with how to choose another one",
  async (at) => {
    const own = `quarterdeck@${hostname()}`;
    const refusal = {
      at,
      code: 504,
      words: `5.5.2 <${own}>: Sender address rejected: need fully-qualified address`,
    };
    server.refuseNext(refusal);
    expect(await failure(send(plainMessage))).toMatchObject({
      message: `The mail server 127.0.0.1:${server.port} rejected the message from ${own}; set another sender by ?from= in SMTP_URL: 504 ${refusal.words}`,
    });
    server.refuseNext(refusal);
    expect(await failure(send(plainMessage, { from: "?from=ops@example.com" }))).toMatchObject({
      message: expect.stringContaining("rejected the message: 504"),
    });
  },
);

test.each([
  [421, "4.7.0 Too many messages, closing", "rejected the message"],
  [450, "4.7.1 Error: too much mail from 127.0.0.1", "rejected the message"],
  [452, "4.3.1 Insufficient system storage", "rejected the message"],
  [530, "5.7.0 Authentication required", "requires a login; add user and password to SMTP_URL"],
  [552, "5.3.4 Message size exceeds fixed limit", "rejected the message"],
])(
  "a refusal at the sender by %i %s is not reported as one of the sender",
  async (code, words, refused) => {
    const smtp = readSmtpUrl(
      `smtp://127.1:${await play({ CONN: "220 hello", MAIL: `${code} ${words}` })}`,
    );
    const channel = createEmailChannel({ email: "oncall@example.com", smtp });
    expect(await failure(channel.send(plainMessage, calm))).toMatchObject({
      message: `The mail server 127.1:${smtp.port} ${refused}: ${code} ${words}`,
      isPermanent: code >= 500,
    });
  },
);

test("reports a wrong password as a failed login", async () => {
  expect(await failure(send(plainMessage, { password: "wrong-one" }))).toMatchObject({
    message: `The mail server 127.0.0.1:${server.port} refuses the login of SMTP_URL: 535 5.7.8 Authentication credentials invalid`,
    isPermanent: true,
  });
});

test.each([
  [false, /certificate/],
  [true, /doesn't support STARTTLS, .*: 500 /],
])(
  "sends a password to another machine only over TLS with a trusted certificate",
  async (isPlain, words) => {
    await server.close();
    server = await startMailServer({ login, isPlain });
    // Another notation of 127.0.0.1, which does not count as this machine.
    const smtp = { ...readSmtpUrl(`smtp://127.1:${server.port}`), login };
    const channel = createEmailChannel({ email: "oncall@example.com", smtp });
    expect(await failure(channel.send(plainMessage, calm))).toMatchObject({
      name: "ChannelError",
      message: expect.stringMatching(words),
    });
    expect(server.logins).toBe(0);
  },
);

/**
 * Starts a mail server with the given responses to some commands, under an address that does not count as local.
 * @param commands receives the commands
 */
async function play(answers: Record<string, string>, commands: string[] = []): Promise<number> {
  const peer = createServer((socket) => {
    socket.on("error", () => undefined);
    const answer = (command: string) => socket.write(`${answers[command] ?? "250 ok"}\r\n`);
    answer("CONN");
    let isMessage = false;
    socket.on("data", (line) => {
      const command = isMessage ? "." : (/^\w+/.exec(line.toString())?.[0] ?? "");
      if (isMessage && !line.toString().endsWith("\r\n.\r\n")) return;
      isMessage = command === "DATA";
      if (command !== ".") commands.push(command);
      answer(command);
      if (command === "QUIT") socket.end();
    });
  }).listen(0, "127.0.0.1");
  await once(peer, "listening");
  onTestFinished(() => void peer.close());
  return portOf(peer);
}
const starttls = { CONN: "220 hello", EHLO: "250-hello\r\n250 STARTTLS" };
test.each([
  [
    true,
    { ...starttls, STARTTLS: "454 4.7.0 Try later" },
    /refuses STARTTLS for now, .*password: 454/,
  ],
  [
    false,
    { ...starttls, STARTTLS: "454 4.7.0 Try later" },
    /refuses the STARTTLS that it offers: 454/,
  ],
  [
    false,
    { ...starttls, STARTTLS: "220 go ahead" },
    /offers STARTTLS, and doesn't speak TLS after it\.$/,
  ],
  [false, { CONN: "554 5.7.1 You are on a list" }, /refuses the connection: 554 5\.7\.1 You/],
  [false, { CONN: "421 4.3.2 Closing" }, /refuses the connection: 421 4\.3\.2 Closing/],
])(
  "errors before a message starts are not reported as a refused password or message",
  async (hasLogin, answers, words) => {
    const smtp = {
      ...readSmtpUrl(`smtp://127.1:${await play(answers)}`),
      login: hasLogin ? login : null,
    };
    const channel = createEmailChannel({ email: "oncall@example.com", smtp });
    const expected = { message: expect.stringMatching(words) };
    expect(await failure(channel.send(plainMessage, calm))).toMatchObject(expected);
    await expect(tryMailServer(smtp, 5000)).rejects.toMatchObject(expected);
  },
);

test.each([
  ["RCPT", { RCPT: "421 4.7.0 Too many messages, closing" }],
  ["DATA", { DATA: "421 4.7.0 Too many messages, closing" }],
  ["the message", { DATA: "354 go ahead", ".": "421 4.7.0 Too many messages, closing" }],
])("a server that closes the session by 421 after %s is quoted", async (_, answers) => {
  const smtp = readSmtpUrl(`smtp://127.1:${await play({ CONN: "220 hello", ...answers })}`);
  const channel = createEmailChannel({ email: "oncall@example.com", smtp });
  expect(await failure(channel.send(plainMessage, calm))).toMatchObject({
    message: expect.stringMatching(/rejected the message: 421 4\.7\.0 Too many messages, closing$/),
    isPermanent: false,
  });
});

test("a server that refuses the recipient and disconnects before it has answered all is quoted", async () => {
  const { port } = await listen(
    createServer((socket) => {
      socket.on("error", () => undefined);
      socket.write("220 hello\r\n");
      socket.on("data", (commands) =>
        commands.toString().startsWith("EHLO")
          ? socket.write("250-hello\r\n250 PIPELINING\r\n")
          : socket.end("250 ok\r\n550 5.7.1 Too many errors\r\n"),
      );
    }),
  );
  const smtp = readSmtpUrl(`smtp://127.0.0.1:${port}`);
  const channel = createEmailChannel({ email: "oncall@example.com", smtp });
  expect(await failure(channel.send(plainMessage, calm))).toMatchObject({
    message: `The mail server 127.0.0.1:${port} closed the connection after: 550 5.7.1 Too many errors`,
    isPermanent: true,
  });
});

test("uses TLS from the start for smtps://", async () => {
  const smtp = readSmtpUrl(`smtps://127.0.0.1:${server.port}`);
  const channel = createEmailChannel({ email: "oncall@example.com", smtp });
  expect(await failure(channel.send(plainMessage, calm))).toMatchObject({
    message: `The mail server 127.0.0.1:${server.port} doesn't speak TLS on this port. Try smtp:// in SMTP_URL, which begins without it.`,
    isPermanent: false,
  });
  await expect(tryMailServer(smtp, 5000)).rejects.toMatchObject({
    message: expect.stringContaining("doesn't speak TLS on this port"),
  });
});

test("reports an untrusted certificate with what to do", async () => {
  const { port } = await listen(createTlsServer(await makeCertificate("mail.example.com")));
  const smtp = readSmtpUrl(`smtps://127.0.0.1:${port}`);
  await expect(tryMailServer(smtp, 5000)).rejects.toMatchObject({
    message: `The mail server 127.0.0.1:${port} has a self-signed certificate. Add its authority with NODE_EXTRA_CA_CERTS.`,
    isPermanent: false,
  });
});

test("reports a server with an outdated TLS version", async () => {
  const certificate = await makeCertificate("mail.example.com");
  const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" } as const;
  const { port } = await listen(createTlsServer({ ...certificate, ...old }));
  const smtp = readSmtpUrl(`smtps://127.0.0.1:${port}`);
  await expect(tryMailServer(smtp, 5000)).rejects.toMatchObject({
    message: `The mail server 127.0.0.1:${port} speaks no version of TLS that Quarterdeck accepts, which is 1.2 or newer.`,
    isPermanent: false,
  });
});

test("retries after a server that is down", async () => {
  await server.close();
  expect(await failure(send(plainMessage))).toMatchObject({
    message: `The mail server 127.0.0.1:${server.port} refused the connection.`,
    isPermanent: false,
  });
  server = await startMailServer({ login });
});

test("does not wait for a server that never replies", async () => {
  const reachDeadline = controlDeadline();
  server.hangNext();
  const sending = failure(send(plainMessage));
  await server.nextMail();
  reachDeadline();
  expect(await sending).toMatchObject({
    message: `The mail server 127.0.0.1:${server.port} timed out.`,
    isPermanent: false,
  });
});

test("waits longer for a slow message than for a connection", async () => {
  // Long enough for a connection on a busy machine.
  const connectMs = 4000;
  const accept = server.hangNext();
  const sending = send(plainMessage, { connectMs });
  await server.nextMail();
  await wait(2 * connectMs);
  accept();
  expect(await sending).toMatch(/^250 /);
});

test("a server that waits for TLS from the start is reported with what to do", async () => {
  // Long enough for a connection on a busy machine.
  const connectMs = 4000;
  const tls = await listen(createTlsServer(await makeCertificate("mail.example.com")));
  const smtp = readSmtpUrl(`smtp://127.0.0.1:${tls.port}`);
  const channel = createEmailChannel({ email: "oncall@example.com", smtp, connectMs });
  const expected = {
    message: `The mail server 127.0.0.1:${tls.port} accepted the connection, but sent no greeting. If it begins with TLS, as on port 465, write smtps:// in SMTP_URL.`,
    isPermanent: false,
  };
  const trial = failure(tryMailServer(smtp, connectMs).then(() => ""));
  expect(await failure(channel.send(plainMessage, calm))).toMatchObject(expected);
  expect(await trial).toMatchObject(expected);
});

test("gives up a server that replies byte by byte at the deadline, and closes its connection", async () => {
  const reachDeadline = controlDeadline();
  const { port, connections } = await listen(
    createServer((socket) => {
      socket.write("220 hello\r\n");
      // After the greeting was read: of two responses that arrive together, neither would be complete.
      socket.once("data", () => {
        let lines = 0;
        const timer = setInterval(() => {
          socket.write("250-more\r\n");
          lines += 1;
          if (lines === 10) reachDeadline();
        }, 20);
        socket.on("close", () => clearInterval(timer));
      });
    }),
  );
  const tried = tryMailServer(readSmtpUrl(`smtp://127.0.0.1:${port}`), 60_000);
  await expect(tried).rejects.toMatchObject({
    message: `The mail server 127.0.0.1:${port} timed out.`,
  });
  await soon(() => expect(connections.map(({ destroyed }) => destroyed)).toEqual([true]));
});

test("a test logs in if there is a login, and leaves no connection", async () => {
  const smtp = (password: string) => ({
    ...readSmtpUrl(`smtp://127.0.0.1:${server.port}`),
    login: { ...login, password },
  });
  await tryMailServer(smtp(login.password), 5000);
  expect(server.logins).toBe(1);
  await expect(tryMailServer(smtp("wrong-one"), 5000)).rejects.toMatchObject({
    message: expect.stringContaining("refuses the login of SMTP_URL: 535 5.7.8"),
    isPermanent: true,
  });
  expect(server.mails).toEqual([]);
});

test("an abort ends the request with its own reason", async () => {
  const abort = new AbortController();
  server.hangNext();
  const sending = send(plainMessage, { signal: abort.signal });
  await server.nextMail();
  abort.abort(new Error("the service stops"));
  await expect(sending).rejects.toThrow("the service stops");
});

test("logs in over TLS on a server of this machine that accepts a login only with TLS", async () => {
  await server.close();
  server = await startMailServer({ login, needsTls: true });
  await send(plainMessage);
  expect(server.mails).toMatchObject([{ user: login.user }]);
});

test("resolves the server by the operating system, so that /etc/hosts applies", async () => {
  const open = await startMailServer({ isPlain: true });
  const asked: string[] = [];
  const lookup: LookupFunction = (host, _options, done) => {
    asked.push(host);
    done(null, [{ address: "127.0.0.1", family: 4 }]);
  };
  const smtp = readSmtpUrl(`smtp://mail.example.com:${open.port}`);
  await createEmailChannel({ email: "a@example.com", smtp, lookup }).send(plainMessage, calm);
  expect(open.mails).toMatchObject([{ to: ["a@example.com"] }]);
  expect(asked).toEqual(["mail.example.com"]);
  await open.close();
});

test("sends QUIT at the end, as RFC 5321, 4.1.1.10, requires", async () => {
  const commands: string[] = [];
  const smtp = readSmtpUrl(
    `smtp://127.0.0.1:${await play({ CONN: "220 hello", DATA: "354 go ahead", QUIT: "221 bye" }, commands)}`,
  );
  await createEmailChannel({ email: "a@example.com", smtp }).send(plainMessage, calm);
  expect(commands).toEqual(["EHLO", "MAIL", "RCPT", "DATA", "QUIT"]);
  await tryMailServer(smtp, 5000);
  expect(commands.slice(5)).toEqual(["EHLO", "QUIT"]);
});

test("sends no login to a server that requests none", async () => {
  const open = await startMailServer();
  const smtp = readSmtpUrl(`smtp://127.0.0.1:${open.port}`);
  await createEmailChannel({ email: "a@example.com", smtp }).send(plainMessage, calm);
  expect(open.mails).toMatchObject([{ user: null, to: ["a@example.com"] }]);
  await open.close();
});

test("a message refused by a server that offers no login is reported as that", async () => {
  const answers = { CONN: "220 hello", RCPT: "454 4.7.1 Relay access denied" };
  const smtp = { ...readSmtpUrl(`smtp://127.0.0.1:${await play(answers)}`), login };
  const channel = createEmailChannel({ email: "oncall@example.com", smtp });
  expect(await failure(channel.send(plainMessage, calm))).toMatchObject({
    message: `The mail server 127.0.0.1:${smtp.port} offers no login on this port, and rejected the message without one: 454 4.7.1 Relay access denied`,
  });
});

test("a sender beyond ASCII is used only with a server that takes it", async () => {
  const modern = await startMailServer();
  const ascii = await startMailServer({ isAscii: true });
  const via = ({ port }: { port: number }) =>
    readSmtpUrl(`smtp://127.0.0.1:${port}?from=Jörg <jörg@bücher.example>`);
  const send = (smtp: ReturnType<typeof via>) =>
    createEmailChannel({ email: "oncall@example.com", smtp }).send(plainMessage, calm);
  await send(via(modern));
  expect(modern.mails).toMatchObject([{ from: "jörg@bücher.example" }]);
  const refused = {
    message: `The mail server 127.0.0.1:${ascii.port} doesn't accept the sender jörg@bücher.example, because it doesn't support SMTPUTF8. Set ?from= in SMTP_URL to an address with only ASCII characters before the @.`,
    isPermanent: true,
  };
  expect(await failure(send(via(ascii)))).toMatchObject(refused);
  await expect(tryMailServer(via(ascii), 5000)).rejects.toMatchObject(refused);
  expect(ascii.mails).toEqual([]);
  await Promise.all([modern.close(), ascii.close()]);
});

test("without SMTP_URL tells the operator to set it", async () => {
  const channel = createEmailChannel({ email: "oncall@example.com", smtp: null });
  expect(await failure(channel.send(plainMessage, calm))).toMatchObject({
    message: expect.stringMatching(/SMTP_URL is not set\. Set SMTP_URL, .* smtp:\/\//),
    isPermanent: true,
  });
});
