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
  /** All connections so far. */
  connections: Socket[];
};

/** Listens until the test ends. */
export async function listen(
  server: Server,
  { host = "127.0.0.1", port = 0 } = {},
): Promise<Receiver> {
  const connections: Socket[] = [];
  server.on("connection", (socket: Socket) => {
    // Ignored, because the tests check the sender's message instead.
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

/** Starts a TCP server that calls `answer` at the first bytes of each connection. */
export const serveBytes = (answer: (socket: Socket) => void): Promise<Receiver> =>
  listen(createTcpServer((socket) => socket.once("data", () => answer(socket))));

type SenderSetup = { allow?: string | null; lookup?: Lookup };

/** Creates a sender that may connect to this machine, and is closed when the test ends. */
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

/** Returns a lookup that resolves these names to their addresses. */
export const lookupIn =
  (names: Record<string, string[]>): Lookup =>
  async (hostname) => {
    const addresses = names[hostname];
    if (addresses === undefined)
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: "ENOTFOUND" });
    return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };

/** Creates a self-signed certificate. */
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
