// Receivers whose responses contain characters that a text column cannot store: each attempt is stored all the same.
import { once } from "node:events";
import { createServer } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Activity } from "../../contract/activity.ts";
import { createWebhookTestService, type WebhookTestService } from "./testing/webhook-service.ts";
import { portOf } from "../testing/port-of.ts";

let service: WebhookTestService;
beforeAll(async () => {
  service = await createWebhookTestService();
});
afterAll(() => service.close());

/** Creates a webhook whose receiver responds to each request with these bytes. */
async function receiving(head: string, body: Buffer): Promise<{ id: number; received(): number }> {
  let received = 0;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      received += 1;
      socket.end(Buffer.concat([Buffer.from(head, "latin1"), Buffer.from("\r\n\r\n"), body]));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { id } = await service.create(`http://127.0.0.1:${portOf(server)}/hook`);
  return { id, received: () => received };
}

const body = Buffer.concat([
  Buffer.from("no: \0 "),
  Buffer.from([0xff, 0xed, 0xa0, 0x80]),
  Buffer.from(' "\\u0000 \\ud800" 🦜'),
]);
const stored = 'no: \ufffd \ufffd\ufffd\ufffd\ufffd "\\u0000 \\ud800" 🦜';

test.each([
  ["delivered", "200 OK"],
  ["retrying", "500 Internal Server Error"],
])("a response of NUL and invalid UTF-8 is stored, the delivery is %s", async (status, line) => {
  const { id } = await receiving(`HTTP/1.1 ${line}\r\nX-Trace: \xff\xed\xa0\x80 \\u0000`, body);
  await service.deploy();
  const { id: deliveryId } = await service.newest(id, status, 1);
  const [attempt] = (await service.delivery(deliveryId)).attempt_list;
  expect(attempt?.response_body).toBe(stored);
  expect(attempt?.response_headers).toMatchObject({ "x-trace": "\xff\xed\xa0\x80 \\u0000" });
});

test("a NUL in a header fails the attempt, with the reason", async () => {
  const { id } = await receiving("HTTP/1.1 200 OK\r\nX-Trace: a\0b", body);
  await service.deploy();
  const { status_reason: reason } = await service.newest(id, "retrying", 1);
  expect(reason).toMatch(/returned a response that is not HTTP\.$/);
});

test("a receiver that is gone with such a response is disabled, and is sent nothing more", async () => {
  const { id, received } = await receiving("HTTP/1.1 410 G\xffne", body);
  await service.deploy();
  await service.newest(id, "failed", 1);
  expect(await service.show(id)).toMatchObject({ status: "disabled" });
  expect(received()).toBe(1);
  const { body: activity } = await service.json<Activity>("GET", "/api/activity?kind=webhook");
  const entry = activity.data.find(
    ({ action, object }) => action === "disabled" && object.id === id,
  );
  expect(entry?.outcome).toBe("bad");
});

test("an event with surrogate pairs is sent as it was reported", async () => {
  const { id } = await receiving("HTTP/1.1 204 No Content", Buffer.alloc(0));
  await service.deploy({ message: "done 🦜 \u2028 \ufffd" });
  const { id: deliveryId } = await service.newest(id, "delivered", 1);
  const { body: sent } = await service.delivery(deliveryId);
  expect(JSON.parse(sent)).toMatchObject({ data: { message: "done 🦜 \u2028 \ufffd" } });
});
