// Providers whose responses contain characters that a text column cannot store: the outcome is stored, and the message is not repeated.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Activity } from "../../contract/activity.ts";
import type {
  ChannelMessage,
  NotificationChannel,
} from "../../contract/notifications/notification.ts";
import type { Page } from "../../contract/paging.ts";
import { isStorableText } from "../../contract/inputs.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { startFakeDiscord } from "./channels/testing/fake-discord.ts";
import { startFakeSlack } from "./channels/testing/fake-slack.ts";
import { startMailServer } from "./channels/testing/mail-server.ts";
import { soon } from "../testing/soon.ts";

let service: TestService;
let slack: Awaited<ReturnType<typeof startFakeSlack>>;
let discord: Awaited<ReturnType<typeof startFakeDiscord>>;
let mail: Awaited<ReturnType<typeof startMailServer>>;
beforeAll(async () => {
  slack = await startFakeSlack();
  discord = await startFakeDiscord();
  mail = await startMailServer();
  service = await createTestService({
    secrets: { SLACK: slack.webhook, DISCORD: discord.webhook },
    smtp: { host: "127.0.0.1", port: mail.port, isSecure: false, login: null, from: null },
    inventory: () => `
servers: [{ id: 1, name: web-1, connection: local }]
notification_channels:
  - { id: 1, name: ops, type: slack, webhook: env:SLACK }
  - { id: 2, name: chat, type: discord, webhook: env:DISCORD }
  - { id: 3, name: on-call, type: email, email: on-call@example.com }
`,
  });
});
afterAll(async () => {
  await service.close();
  for (const peer of [slack, discord, mail]) await peer.close();
});

const lastMessage = async (id: number): Promise<ChannelMessage | null> => {
  const path = "/api/notification-channels";
  const { data } = (await service.json<Page<NotificationChannel>>("GET", path)).body;
  return data.find((one) => one.id === id)?.last_message ?? null;
};

const awful = "no \0 \ud800 \x1b[31m \ufffd";

test.each<[string, number, () => void]>([
  ["Slack", 1, () => slack.answerNext({ status: 404, body: awful })],
  ["Slack, with a status of success,", 1, () => slack.answerNext({ status: 200, body: awful })],
  [
    "Discord",
    2,
    () =>
      discord.answerNext({
        status: 400,
        body: { message: awful, errors: { [awful]: { _errors: [{ message: awful }] } } },
      }),
  ],
  ["a mail server", 3, () => mail.refuseNext({ at: "data", code: 554, words: awful })],
])("stores the outcome when %s responds with such characters", async (_who, id, plan) => {
  plan();
  const sent = await service.json<ChannelMessage>("POST", `/api/notification-channel/${id}/test`);
  expect(sent.status).toBe(202);
  const message = await soon(async () => {
    const found = await lastMessage(id);
    expect(found, JSON.stringify(found)).toMatchObject({ id: sent.body.id, status: "failed" });
    return found;
  });
  expect(message?.attempts).toBe(1);
  expect(isStorableText(message?.answer ?? "\0")).toBe(true);
  const { body } = await service.json<Activity>("GET", "/api/activity?kind=notification");
  expect(body.data[0]).toMatchObject({ outcome: "bad" });
  expect(isStorableText(body.data[0]?.detail ?? "\0")).toBe(true);
});
