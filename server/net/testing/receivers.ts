// Receivers for the tests of net: real servers on loopback, from well-behaved to hostile.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import { createAddressGuard } from "../address-guard.ts";
import { createSender, type Sender, type SendRequest } from "../send.ts";
import { SendError, type SendErrorKind } from "../send-error.ts";
import type { Lookup } from "../target.ts";
import { portOf } from "../../testing/port-of.ts";

type Receiver = {
  port: number;
  url: string;
  /** Every connection that was ever made. */
  connections: Socket[];
};

/** Listens until the test is over. */
export async function listen(
  server: Server,
  { host = "127.0.0.1", port = 0 } = {},
): Promise<Receiver> {
  const connections: Socket[] = [];
  server.on("connection", (socket: Socket) => {
    // What hostile tests do to a connection is told by what the sender says of it.
    socket.on("error", () => undefined);
    connections.push(socket);
  });
  server.listen(port, host);
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of connections) socket.destroy();
    server.close();
  });
  const bound = portOf(server);
  return { port: bound, url: `http://${host}:${bound}/hook`, connections };
}

export const serve = (listener: RequestListener): Promise<Receiver> =>
  listen(createServer(listener));

/** Takes whatever comes, and answers each first piece with these bytes. */
export const serveBytes = (answer: (socket: Socket) => void): Promise<Receiver> =>
  listen(createTcpServer((socket) => socket.once("data", () => answer(socket))));

type SenderSetup = { allow?: string | null; lookup?: Lookup };

/** One that may reach this machine, until the test is over. */
export function makeSender({ allow = "127.0.0.0/8", lookup }: SenderSetup = {}): Sender {
  const sender = createSender({
    guard: createAddressGuard(allow),
    ...(lookup === undefined ? {} : { lookup }),
  });
  onTestFinished(() => sender.close());
  return sender;
}

export const post = (url: string, change: Partial<SendRequest> = {}): SendRequest => ({
  url,
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: '{"text":"Ahoi"}',
  ...change,
});

export async function expectFailure(sent: Promise<unknown>, kind: SendErrorKind, words: RegExp) {
  const error: unknown = await sent.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(SendError);
  expect(error).toMatchObject({ kind, message: expect.stringMatching(words) });
}

/** Answers like a name server that knows these names, each with its addresses. */
export const lookupIn =
  (names: Record<string, string[]>): Lookup =>
  async (hostname) => {
    const addresses = names[hostname];
    if (addresses === undefined)
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: "ENOTFOUND" });
    return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };

/** A certificate that signs itself. */
export async function makeCertificate(hostname: string): Promise<{ key: string; cert: string }> {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-certificate-"));
  const key = join(folder, "key.pem");
  const cert = join(folder, "cert.pem");
  try {
    const options = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    const subject = ["-subj", `/CN=${hostname}`, "-addext", `subjectAltName=DNS:${hostname}`];
    const files = ["-keyout", key, "-out", cert];
    await promisify(execFile)("openssl", [...options.split(" "), ...subject, ...files]);
    return { key: await readFile(key, "utf8"), cert: await readFile(cert, "utf8") };
  } finally {
    await rm(folder, { recursive: true });
  }
}
