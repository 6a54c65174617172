// Creates a service with one channel of each kind, each on a fake that enforces its provider's limits.
import { expect } from "vitest";
import type {
  ChannelMessage,
  Notification,
  NotificationChannel,
} from "../../../contract/notifications/notification.ts";
import type { Page } from "../../../contract/paging.ts";
import { ownUser } from "../../testing/own-user.ts";
import { createTestService } from "../../testing/service.ts";
import { startFakeDiscord } from "../channels/testing/fake-discord.ts";
import { startFakeSlack } from "../channels/testing/fake-slack.ts";
import { startMailServer } from "../channels/testing/mail-server.ts";
import { soon } from "../../testing/soon.ts";

export { soon };

export type NotificationTestService = Awaited<ReturnType<typeof createNotificationTestService>>;

export async function createNotificationTestService() {
  const slack = await startFakeSlack();
  const discord = await startFakeDiscord();
  const mail = await startMailServer();
  const service = await createTestService({
    publicUrl: "https://ops.example.com",
    secrets: { OPS_SLACK: slack.webhook, OPS_DISCORD: discord.webhook },
    smtp: { host: "127.0.0.1", port: mail.port, isSecure: false, login: null, from: null },
    inventory: (folder) => `
servers:
  - { id: 1, name: web-1, connection: local, time_zone: Asia/Kathmandu }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan], databases: [1] }
  - { id: 2, server: 1, name: blog, root: ${folder}/shop, user: ${ownUser}, databases: [1] }
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${folder}/missing.sqlite, user: ${ownUser} }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/shop }
notification_channels:
  - { id: 1, name: ops, type: slack, webhook: env:OPS_SLACK }
  - { id: 2, name: chat, type: discord, webhook: env:OPS_DISCORD }
  - { id: 3, name: on-call, type: email, email: on-call@example.com }
  - { id: 4, name: forgotten, type: slack, webhook: env:NOT_SET }
`,
  });

  const channel = async (id: number): Promise<NotificationChannel> => {
    const { body } = await service.json<Page<NotificationChannel>>(
      "GET",
      "/api/notification-channels",
    );
    const found = body.data.find((one) => one.id === id);
    if (found === undefined) throw new Error(`There is no channel ${id}.`);
    return found;
  };

  return {
    ...service,
    slack,
    discord,
    mail,
    channel,
    choose: (channels: unknown, site = 1) =>
      service.json<Page<Notification> & { errors: Record<string, string[]> }>(
        "PUT",
        `/api/site/${site}/notifications`,
        { channels },
      ),
    deploy: (change: object = {}, site = 1) =>
      service.call("POST", `/api/site/${site}/deployment`, { status: "finished", ...change }),
    /** Waits until the newest message of a channel has this event and status. */
    newest: (id: number, status: string, event = "site.deployed"): Promise<ChannelMessage> =>
      soon(async () => {
        const { last_message: message } = await channel(id);
        expect(message, JSON.stringify(message)).toMatchObject({ status, event });
        if (message === null) throw new Error("There is no message.");
        return message;
      }),
    async close() {
      await service.close();
      for (const peer of [slack, discord, mail]) await peer.close();
    },
  };
}
