// Tests disguised addresses of this network. Each is refused when it is saved, and again when a request is sent, and nothing
// connects.
import { once } from "node:events";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SendError } from "./send-error.ts";
import { systemLookup, type Lookup } from "./target.ts";
import { lookupIn, makeSender, post } from "./testing/receivers.ts";
import { portOf } from "../testing/port-of.ts";

const server = createServer((_request, response) => response.end("reached"));
let port: number;
const connections: Socket[] = [];
beforeAll(async () => {
  server.on("connection", (socket: Socket) => connections.push(socket));
  // Without a host: listens on all addresses of the machine, of both families where it has both.
  server.listen(0);
  await once(server, "listening");
  port = portOf(server);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const names = lookupIn({
  "private.example.com": ["10.0.0.5"],
  "loopback.example.com": ["127.0.0.1"],
  "loopback6.example.com": ["::1"],
  "mapped.example.com": ["::ffff:127.0.0.1"],
  "metadata.example.com": ["169.254.169.254"],
  "nat64.example.com": ["64:ff9b::7f00:1"],
  "zone.example.com": ["fe80::1%lo"],
  // One of them is public; the connection might take the other.
  "mixed.example.com": ["93.184.215.14", "127.0.0.1"],
  "mixed6.example.com": ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::1"],
  "empty.example.com": [],
  "127.0.0.1.nip.io": ["127.0.0.1"],
  "app-169-254-169-254.sslip.io": ["169.254.169.254"],
  "7f000001.rbndr.example.com": ["127.0.0.1"],
  "localtest.me": ["127.0.0.1"],
  "private.example.com.": ["10.0.0.5"],
  "metadata.google.internal": ["169.254.169.254"],
  "xn--bcher-kva.example.com": ["192.168.0.1"],
  "no-ip.example.com": ["not an address"],
});
/** Uses the machine's own lookup for its own names; no test queries a name server. */
const lookup: Lookup = (hostname, options) =>
  /^(.*\.)?localhost\.?$/.test(hostname)
    ? systemLookup(hostname, options)
    : names(hostname, options);

test.each([
  // Loopback, written plainly, in parts, and in other bases.
  "http://127.0.0.1",
  "http://127.1",
  "http://127.0.1",
  "http://127.255.255.254",
  "http://2130706433",
  "http://017700000001",
  "http://0x7f000001",
  "http://0X7F.1",
  "http://0177.0.0.1",
  "http://0177.0000.0.01",
  "http://0x7f.0x0.0x0.0x1",
  "http://127.0x0.0.01",
  "http://0x7f.0.1",
  "http://127.0.0.1.",
  "http://0",
  "http://0.0.0.0",
  "http://00.0x0",
  "http://0.0.0.1",
  // Characters that are normalized to others.
  "http://１２７.０.０.１",
  "http://127。0。0。1",
  "http://①②⑦.⓪.⓪.①",
  "http://２１３０７０６４３３",
  "http://𝟏𝟐𝟕.0.0.1",
  "http://127.0.0.1%2e",
  "http://%31%32%37.0.0.1",
  "http://127\u00ad.0.0.1",
  "http://12\n7.0.0.1",
  "\u0000http://127.0.0.1",
  "  http://127.0.0.1",
  "http:\\\\127.0.0.1",
  "http:127.0.0.1",
  "http:/127.0.0.1",
  "http:////127.0.0.1",
  "hTTp://127.0.0.1",
  "http://ｌｏｃａｌｈｏｓｔ",
  "http://ⓛocalhost",
  // Names of this machine.
  "http://localhost",
  "http://LOCALHOST",
  "http://localhost.",
  "https://localhost",
  "http://api.localhost",
  // IPv6 addresses, and IPv4 addresses inside them.
  "http://[::1]",
  "http://[::]",
  "http://[0:0:0:0:0:0:0:1]",
  "http://[0000::0001]",
  "http://[::127.0.0.1]",
  "http://[::ffff:127.0.0.1]",
  "http://[::ffff:7f00:1]",
  "http://[::FFFF:0x7f.1]",
  "http://[0:0:0:0:0:ffff:127.0.0.1]",
  "http://[::ffff:0:127.0.0.1]",
  "http://[::ffff:169.254.169.254]",
  "http://[64:ff9b::127.0.0.1]",
  "http://[64:ff9b:1::7f00:1]",
  "http://[2002:7f00:1::]",
  "http://[2001:0:0:1::80ff:fffe]",
  "http://[fe80::1]",
  "http://[fe80::1%25lo]",
  "http://[fe80::1%lo]",
  "http://[fc00::1]",
  "http://[fd00:ec2::254]",
  "http://[ff02::1]",
  "http://[fec0::1]",
  // Metadata services of clouds.
  "http://169.254.169.254/latest/meta-data/",
  "http://2852039166",
  "http://0xa9fea9fe",
  "http://0251.0376.0251.0376",
  "http://169.16689662",
  "http://100.100.100.200",
  "http://192.0.0.192",
  "http://168.63.129.16",
  "http://metadata.google.internal",
  // Other networks.
  "http://10.0.0.5",
  "http://167772165",
  "http://172.16.0.1",
  "http://192.168.1.1",
  "http://192.168.257",
  "http://100.64.0.1",
  "http://198.18.0.1",
  "http://224.0.0.1",
  "http://240.0.0.1",
  "http://255.255.255.255",
  "http://4294967295",
  // URLs whose host is not the one that it seems to be.
  "http://example.com@127.0.0.1",
  "http://127.0.0.1#@example.com",
  "http://127.0.0.1\\@example.com",
  "http://127.0.0.1?@example.com",
  "http://example.com:80@127.0.0.1",
  "http://user:pass@93.184.215.14",
  "http://user@93.184.215.14",
  "http://:pass@93.184.215.14",
  // Names that resolve to this network.
  "http://private.example.com",
  "http://PRIVATE.example.com",
  "http://private.example.com.",
  "http://loopback.example.com",
  "http://loopback6.example.com",
  "http://mapped.example.com",
  "http://metadata.example.com",
  "http://nat64.example.com",
  "http://zone.example.com",
  "http://mixed.example.com",
  "http://mixed6.example.com",
  "http://127.0.0.1.nip.io",
  "http://app-169-254-169-254.sslip.io",
  "http://7f000001.rbndr.example.com",
  "http://localtest.me",
  "http://bücher.example.com",
  "http://no-ip.example.com",
  "http://nowhere.example.com",
  "http://empty.example.com",
  // Not URLs of a receiver.
  "ftp://127.0.0.1",
  "file:///etc/passwd",
  "gopher://127.0.0.1",
  "dict://127.0.0.1",
  "unix:/var/run/docker.sock",
  "data:text/plain,x",
  "javascript:alert(1)",
  "ws://127.0.0.1",
  "blob:http://127.0.0.1/x",
  "//127.0.0.1",
  "127.0.0.1",
  "/hook",
  "http://",
  "http://256.256.256.256",
  "http://1.2.3.4.5",
  "http://127.0.0.1:99999",
  "http://[::1",
  "http://127.0.0.1 .example.com",
  "",
])("refuses %j", async (written) => {
  const sender = makeSender({ allow: null, lookup });
  for (const url of [written, withPort(written)]) {
    const refusal = await sender.refusalOf(url);
    expect(refusal).toMatch(/\.$/);
    const error: unknown = await sender.send(post(url)).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(SendError);
    // The same message as when saving, so the reason is the same, and not a failed connection.
    expect((error as SendError).message).toMatch(
      /^The URL|QUARTERDECK_ALLOW|could not be resolved/,
    );
  }
});

/** Adds the port of the server that would respond, if the URL can have one. */
function withPort(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.hostname === "") return url;
  parsed.port = String(port);
  return parsed.href;
}

test("none of these requests has connected", async () => {
  // A permitted request: connections arrive in order, so an earlier one would be counted before it.
  const sender = makeSender();
  const answer = await sender.send(post(`http://127.0.0.1:${port}`));
  expect(answer.body).toBe("reached");
  expect(connections).toHaveLength(1);
});
