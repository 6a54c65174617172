// Provides channels that lead to a fake Slack server, and steps that the browser tests of notifications share.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import type { NotificationChannel } from "../contract/notifications/notification.ts";
import { startFakeSlack } from "../server/notifications/channels/testing/fake-slack.ts";
import type { HttpPeer } from "../server/notifications/channels/testing/http-peer.ts";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import { expect, type Site, test as base } from "./fixtures.ts";

type Channels = {
  /** The server that both channels send to. */
  slack: HttpPeer;
  ops: { id: number; name: string };
  team: { id: number; name: string };
};

export const test = base.extend<{ channels: Channels }>({
  /** Adds two channels to the inventory for the duration of the test. */
  channels: async ({ service, site }, provide) => {
    const slack = await startFakeSlack();
    const secret = join(service.folder, `slack-${site.id}`);
    await writeFile(secret, `${slack.webhook}\n`);
    const ops = { id: site.id * 10, name: `ops-${site.id}` };
    const team = { id: site.id * 10 + 1, name: `team-${site.id}` };
    const listed = async () => (await channelList(service)).map(({ id }) => id);
    await service.changeInventory(({ notification_channels: channels }) =>
      channels.push(
        ...[ops, team].map(
          ({ id, name }) => `{ id: ${id}, name: ${name}, type: slack, webhook: "file:${secret}" }`,
        ),
      ),
    );
    await expect.poll(listed).toEqual([ops.id, team.id]);
    await provide({ slack, ops, team });
    // A channel that a site uses cannot be removed.
    await choose(service, site.id, []);
    await service.changeInventory((inventory) => (inventory.notification_channels = []));
    await expect.poll(listed).toEqual([]);
    await slack.close();
  },
});

export async function channelList(service: ServiceProcess): Promise<NotificationChannel[]> {
  const answer = await service.call("GET", "/api/notification-channels?per_page=100");
  const { data }: { data: NotificationChannel[] } = await answer.json();
  return data;
}

export const choose = (service: ServiceProcess, siteId: number, channels: number[]) =>
  service.call("PUT", `/api/site/${siteId}/notifications`, { channels });

export const checkbox = (page: Page, { name }: { name: string }) =>
  page.getByRole("checkbox", { name, exact: true });

export const row = (page: Page, { name }: { name: string }) =>
  page
    .getByRole("list", { name: "Notification channels" })
    .getByRole("listitem")
    .filter({ has: page.getByRole("checkbox", { name, exact: true }) });

export const open = async (page: Page, url: string, site: Site) => {
  await page.goto(`${url}/sites/${site.id}/notifications`);
  await expect(page.getByRole("heading", { name: "Notifications", level: 1 })).toBeVisible();
};
