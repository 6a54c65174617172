import { createServer } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createSender } from "./send.ts";
import type { Lookup } from "./target.ts";
import { expectFailure, listen, lookupIn, makeSender, post, serve } from "./testing/receivers.ts";
import { soon } from "../testing/soon.ts";

describe("a host name", () => {
  test("is resolved once, and the connection goes to the resolved address", async () => {
    const close = { Connection: "close" };
    const first = await serve((_request, response) => response.writeHead(200, close).end("first"));
    // Here 127.0.0.1 is the allowed address, and 127.0.0.2 an internal one.
    const second = await listen(
      createServer((_request, response) => response.end("second")),
      { host: "127.0.0.2", port: first.port },
    );
    const answers = ["127.0.0.1", "127.0.0.2"];
    const lookup = vi.fn<Lookup>(async () => [{ address: answers.shift() ?? "", family: 4 }]);
    const sender = makeSender({ allow: "127.0.0.1", lookup });
    const url = `http://rebinding.example.com:${first.port}/`;

    expect(await sender.send(post(url))).toMatchObject({ body: "first", address: "127.0.0.1" });
    expect(lookup).toHaveBeenCalledTimes(1);
    await expectFailure(sender.send(post(url)), "refused", /127\.0\.0\.2 is a loopback address/);
    expect(second.connections).toHaveLength(0);
  });

  test("that no name server resolves is not waited for forever", async () => {
    const sender = makeSender({ lookup: () => new Promise(() => undefined) });
    expect(await sender.refusalOf("https://slow.example.com/")).toMatch(
      /slow\.example\.com could not be resolved/,
    );
  });

  test("may be saved while it is public, and is refused when it no longer is", async () => {
    const answers = ["93.184.215.14", "127.0.0.1"];
    const receiver = await serve((_request, response) => response.end("reached"));
    const lookup = async () => [{ address: answers.shift() ?? "", family: 4 }];
    const sender = makeSender({ allow: null, lookup });
    const url = `http://rebinding.example.com:${receiver.port}/`;
    expect(await sender.refusalOf(url)).toBeNull();
    await expectFailure(sender.send(post(url)), "refused", /QUARTERDECK_ALLOW/);
    expect(receiver.connections).toHaveLength(0);
  });

  test("with several addresses uses one that responds", async () => {
    const receiver = await serve((_request, response) => response.end("ok"));
    const lookup = lookupIn({ "two.example.com": ["127.0.0.9", "127.0.0.1"] });
    const url = `http://two.example.com:${receiver.port}/`;
    expect(await makeSender({ lookup }).send(post(url))).toMatchObject({ address: "127.0.0.1" });
  });

  test("is checked before it is saved", async () => {
    const lookup = lookupIn({ "in.example.com": ["127.0.0.1"], "out.example.com": ["10.0.0.5"] });
    const sender = makeSender({ lookup });
    expect(await sender.refusalOf("https://in.example.com/hook")).toBeNull();
    expect(await sender.refusalOf("http://127.0.0.1:1/hook")).toBeNull();
    expect(await sender.refusalOf("http://out.example.com")).toBe(
      "out.example.com resolves to a blocked address: 10.0.0.5 is a private address. To permit it, add the address or its range to QUARTERDECK_ALLOW.",
    );
    expect(await sender.refusalOf("http://gone.example.com")).toBe(
      "gone.example.com could not be resolved (DNS).",
    );
  });
});

test("the address of an established connection is checked again before a byte is sent", async () => {
  const receiver = await serve((_request, response) => response.end("reached"));
  for (const scheme of ["http", "https"]) {
    const refusal = vi.fn<() => string | null>().mockReturnValueOnce(null).mockReturnValue("No");
    const sender = createSender({ guard: { refusal } });
    onTestFinished(() => sender.close());
    const sent = sender.send(post(`${scheme}://127.0.0.1:${receiver.port}/`));
    await expectFailure(sent, "refused", /No/);
  }
  await soon(() => expect(receiver.connections).toHaveLength(2));
  await soon(() => expect(receiver.connections.every((each) => each.destroyed)).toBe(true));
  expect(receiver.connections.map(({ bytesRead }) => bytesRead)).toEqual([0, 0]);
});
