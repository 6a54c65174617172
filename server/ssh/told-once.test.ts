// When a server becomes unreachable with everything on it, recipients are notified only about the server.
import { userInfo } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import type { Worker } from "../../contract/workers/worker.ts";
import { startMailServer } from "../notifications/channels/testing/mail-server.ts";
import { createTestService, oneSite } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { startReceiver } from "../webhooks/testing/receiver.ts";
import { startSupervisord } from "../workers/supervisord/testing/supervisord.ts";
import { sshEntry } from "./testing/entry.ts";
import { startSshd } from "./testing/sshd.ts";
import { soon } from "../testing/soon.ts";

test("sends one message about a server that becomes unreachable with all its workers, and one about its return", async () => {
  const [sshd, supervisord, mail, receiver] = await Promise.all([
    startSshd(),
    startSupervisord(),
    startMailServer(),
    startReceiver(),
  ]);
  for (const { close } of [supervisord, mail, receiver]) onTestFinished(close);
  const service = await createTestService({
    smtp: { host: "127.0.0.1", port: mail.port, isSecure: false, login: null, from: null },
    inventory: (folder) =>
      `${oneSite(folder)}notification_channels: [{ id: 1, name: ops, type: email, email: ops@example.com }]\n`.replace(
        "connection: local",
        `connection: ${sshEntry(sshd, undefined, userInfo().username)}, supervisord_config: ${supervisord.config}`,
      ),
  });
  onTestFinished(() => service.close());
  await service.json("POST", "/api/site/1/webhook", { url: receiver.url });
  for (const owner of ["site/1", "server/1"])
    await service.json("PUT", `/api/${owner}/notifications`, { channels: [1] });
  for (let count = 0; count < 3; count += 1)
    await service.json("POST", "/api/site/1/worker", { ...workerBody, processes: 2 });
  const areAll = (status: Worker["status"]) =>
    soon(async () => {
      const { body } = await service.json<{ data: Worker[] }>("GET", "/api/site/1/workers");
      expect(body.data.map((worker) => worker.status)).toEqual([status, status, status]);
    });
  const isTold = (...words: ("unreachable" | "recovered")[]) =>
    soon(async () => {
      expect(mail.mails.map(({ headers }) => headers.get("subject"))).toEqual(
        words.map((word) => `Server ${word}: here`),
      );
      expect(receiver.arrivals.map(({ body }) => JSON.parse(body).type)).toEqual(
        words.map((word) => `server.${word}`),
      );
      // No other event is undispatched.
      expect(await service.query("select type from events where dispatched_at is null")).toEqual(
        [],
      );
      expect(await service.query("select id from channel_messages")).toHaveLength(words.length);
    });
  await areAll("installed");
  await isTold();
  await sshd.stop();
  await areAll("unreachable");
  await isTold("unreachable");
  await sshd.start();
  await areAll("installed");
  await isTold("unreachable", "recovered");
}, 150_000);
