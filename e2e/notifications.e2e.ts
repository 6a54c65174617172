import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import type { NotificationChannel } from "../contract/notifications/notification.ts";
import { startFakeSlack } from "../server/notifications/channels/testing/fake-slack.ts";
import type { HttpPeer } from "../server/notifications/channels/testing/http-peer.ts";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import { expect, type Site, test as base } from "./fixtures.ts";
import {
  connectAs,
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectToast,
} from "./helpers.ts";
import { withoutExtras } from "./without-extras.ts";

type Channels = {
  /** Where both of them lead. */
  slack: HttpPeer;
  ops: { id: number; name: string };
  team: { id: number; name: string };
};

const test = base.extend<{ channels: Channels }>({
  /** The account has these two for as long as the test runs. */
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
    // What a site uses cannot go.
    await choose(service, site.id, []);
    await service.changeInventory((inventory) => (inventory.notification_channels = []));
    await expect.poll(listed).toEqual([]);
    await slack.close();
  },
});

async function channelList(service: ServiceProcess): Promise<NotificationChannel[]> {
  const answer = await service.call("GET", "/api/notification-channels?per_page=100");
  const { data }: { data: NotificationChannel[] } = await answer.json();
  return data;
}

const choose = (service: ServiceProcess, siteId: number, channels: number[]) =>
  service.call("PUT", `/api/site/${siteId}/notifications`, { channels });

async function chosen(service: ServiceProcess, siteId: number): Promise<number[]> {
  const answer = await service.call("GET", `/api/site/${siteId}/notifications`);
  return idsIn(answer);
}

async function idsIn(answer: Response): Promise<number[]> {
  const { data }: { data: { id: number }[] } = await answer.json();
  return data.map(({ id }) => id);
}

const checkbox = (page: Page, { name }: { name: string }) =>
  page.getByRole("checkbox", { name, exact: true });

const row = (page: Page, { name }: { name: string }) =>
  page
    .getByRole("list", { name: "Notification channels" })
    .getByRole("listitem")
    .filter({ has: page.getByRole("checkbox", { name, exact: true }) });

const open = async (page: Page, url: string, site: Site) => {
  await page.goto(`${url}/sites/${site.id}/notifications`);
  await expect(page.getByRole("heading", { name: "Notifications", level: 1 })).toBeVisible();
};

test("a channel is used by a site once its box is checked, and no longer once it is not", async ({
  connected: page,
  service,
  site,
  channels: { ops, team },
}) => {
  await choose(service, site.id, [team.id]);
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await page
    .getByRole("navigation", { name: "Site" })
    .getByRole("link", { name: "Notifications" })
    .click();
  await expect(checkbox(page, ops)).not.toBeChecked();
  await expect(checkbox(page, team)).toBeChecked();
  await expect(checkbox(page, ops)).toHaveAccessibleDescription(/Slack 127\.0\.0\.1.*…/);
  await expect(page.getByRole("main")).toContainText("backup failed");

  await checkbox(page, ops).check();
  await expectToast(page, "status", `${ops.name} will be notified about ${site.name}.`);
  expect(await chosen(service, site.id)).toEqual([ops.id, team.id]);

  await checkbox(page, team).uncheck();
  await expectToast(page, "status", `${team.name} will no longer be notified about ${site.name}.`);
  expect(await chosen(service, site.id)).toEqual([ops.id]);
  await page.reload();
  await expect(checkbox(page, ops)).toBeChecked();
  await expect(checkbox(page, team)).not.toBeChecked();
});

test("a server's own channels are chosen beside its backups, for what belongs to none of its sites", async ({
  connected: page,
  service,
  channels: { ops, team },
}) => {
  await page.goto(`${service.url}/servers/1/backups`);
  await page
    .getByRole("navigation", { name: "Server" })
    .getByRole("link", { name: "Notifications" })
    .click();
  await expect(page.getByRole("heading", { name: "Notifications", level: 1 })).toBeVisible();
  await expect(page.getByRole("main")).toContainText(
    "everything on this server that belongs to no site",
  );
  await expectAccessibleInBoth(page);
  await expectNoSidewaysScroll(page);
  await expect(checkbox(page, team)).not.toBeChecked();
  await checkbox(page, ops).check();
  await expectToast(page, "status", new RegExp(`^${ops.name} will be notified about .*\\.$`));
  const used = async () => {
    const answer = await service.call("GET", "/api/server/1/notifications");
    return idsIn(answer);
  };
  expect(await used()).toEqual([ops.id]);
  await page.reload();
  await expect(checkbox(page, ops)).toBeChecked();
  await checkbox(page, ops).uncheck();
  await expect.poll(used).toEqual([]);
});

test("what was just saved can be undone, and the focus is on its box again", async ({
  connected: page,
  service,
  site,
  channels: { ops },
}) => {
  await open(page, service.url, site);
  await checkbox(page, ops).check();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(checkbox(page, ops)).not.toBeChecked();
  await expect(checkbox(page, ops)).toBeFocused();
  await expectToast(page, "status", `${ops.name} will no longer be notified about ${site.name}.`);
  expect(await chosen(service, site.id)).toEqual([]);
});

/** Writes down, frame by frame, which boxes a person sees checked. */
const watchBoxes = (page: Page) =>
  page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { seen });
    const look = () => {
      const boxes = [...document.querySelectorAll<HTMLInputElement>("main [type=checkbox]")];
      const state = boxes.map(({ checked }) => (checked ? "x" : "-")).join("");
      if (seen.at(-1) !== state) seen.push(state);
      requestAnimationFrame(look);
    };
    look();
  });
const seenBoxes = (page: Page): Promise<string[]> =>
  page.evaluate(() => Reflect.get(globalThis, "seen"));

test("two boxes that are checked before the service has answered are both saved", async ({
  connected: page,
  service,
  site,
  channels: { ops, team },
}) => {
  await open(page, service.url, site);
  const answered = () => page.waitForResponse((response) => response.request().method() === "PUT");
  await watchBoxes(page);
  process.kill(service.pid, "SIGSTOP");
  const first = answered();
  try {
    await checkbox(page, ops).check();
    await checkbox(page, team).check();
  } finally {
    process.kill(service.pid, "SIGCONT");
  }
  await first;
  await expectToast(page, "status", `${team.name} will be notified about ${site.name}.`);
  // The first answer knows of one of them only, and nobody sees anything of that.
  expect(await seenBoxes(page)).toEqual(["--", "x-", "xx"]);
  expect(await chosen(service, site.id)).toEqual([ops.id, team.id]);
});

test("a change that the service refuses is taken back on screen and reported, and the focus stays", async ({
  page,
  service,
  site,
  channels: { ops, team },
  expected,
}) => {
  expected.push(/403 \(Forbidden\)/);
  await choose(service, site.id, [team.id]);
  const made = await service.call("POST", "/api/tokens", { name: "viewer", abilities: ["read"] });
  const { token }: { token: string } = await made.json();
  await connectAs(page, service.url, token);
  await open(page, service.url, site);

  await checkbox(page, ops).press("Space");
  await expectToast(page, "alert", `Couldn't save the change to ${ops.name}.`);
  await expect(checkbox(page, ops)).not.toBeChecked();
  await expect(checkbox(page, ops)).toBeFocused();
  await expect(checkbox(page, team)).toBeChecked();
  await row(page, ops).getByRole("button", { name: "Send test" }).click();
  await expectToast(page, "alert", `Couldn't send a test to ${ops.name}.`);
  await expect(row(page, ops)).toContainText("No messages yet");
  await expectAccessible(page);
  expect(await chosen(service, site.id)).toEqual([team.id]);
});

test.describe("a test message", () => {
  test("arrives, and the provider's answer stands beside it", async ({
    connected: page,
    service,
    site,
    channels: { ops, team, slack },
  }) => {
    await open(page, service.url, site);
    const send = page.getByRole("button", { name: `Send test to ${ops.name}` });
    await send.click();
    await expect(row(page, ops).getByText("delivered", { exact: true })).toBeVisible();
    await expect(row(page, ops).getByText("200 ok", { exact: true })).toBeVisible();
    await expect(row(page, ops).getByRole("status")).toHaveText(/delivered\. 200 ok/);
    await expect(row(page, team)).toContainText("No messages yet");
    await expect(send).toBeEnabled();
    expect(slack.accepted).toHaveLength(1);
  });

  test("that is refused is failed, with the provider's word and what to do", async ({
    connected: page,
    service,
    site,
    channels: { ops, slack },
  }) => {
    slack.answerNext({ status: 400, body: "no_service" });
    await open(page, service.url, site);
    await page.getByRole("button", { name: `Send test to ${ops.name}` }).click();
    await expect(row(page, ops).getByText("failed", { exact: true })).toBeVisible();
    await expect(row(page, ops)).toContainText("400 no_service");
    await expect(row(page, ops)).toContainText("Create a new webhook in Slack");
    await expectAccessible(page);
  });

  test("is sent one at a time, and the button says why", async ({
    connected: page,
    service,
    site,
    channels: { ops, slack },
  }) => {
    slack.answerNext("hang");
    await open(page, service.url, site);
    const send = page.getByRole("button", { name: `Send test to ${ops.name}` });
    await send.click();
    await expect(row(page, ops).getByText("pending", { exact: true })).toBeVisible();
    await expect(send).toBeDisabled();
    await expect(send).toHaveAccessibleDescription("A test message is already being sent.");
    await send.click({ force: true });
    await expect(send).toBeFocused();
    expect(slack.requests).toHaveLength(1);
  });

  test("shows at once that what was wrong is mended", async ({
    connected: page,
    service,
    site,
    channels: { ops, slack },
  }) => {
    slack.answerNext({ status: 503, body: "later" });
    await open(page, service.url, site);
    const send = page.getByRole("button", { name: `Send test to ${ops.name}` });
    await send.click();
    await expect(row(page, ops).getByText("retrying", { exact: true })).toBeVisible();
    await expect(row(page, ops)).toContainText("503 later");
    await expect(row(page, ops)).toContainText("Retrying in");
    await send.click();
    await expect(row(page, ops).getByText("delivered", { exact: true })).toBeVisible();
  });
});

test("a channel that nothing can be sent to says so, and why", async ({
  connected: page,
  service,
  site,
  channels,
}) => {
  const broken = { id: channels.team.id + 1, name: `discord-${site.id}` };
  const mail = { id: channels.team.id + 2, name: `mail-${site.id}` };
  await service.changeInventory(({ notification_channels: list }) =>
    list.push(
      `{ id: ${broken.id}, name: ${broken.name}, type: discord, webhook: "env:NOBODY_SET_THIS" }`,
      `{ id: ${mail.id}, name: ${mail.name}, type: email, email: on-call@example.com }`,
    ),
  );
  await expect.poll(async () => (await channelList(service)).length).toBe(4);
  await open(page, service.url, site);
  await expect(row(page, broken)).toContainText("Discord");
  await expect(checkbox(page, broken)).toHaveAccessibleDescription(/NOBODY_SET_THIS is not set/);
  await expect(row(page, mail)).toContainText("Email");
  await expect(row(page, mail)).toContainText("o…@example.com");
  await expect(checkbox(page, mail)).toHaveAccessibleDescription(/SMTP_URL is not set/);
  // It can be chosen all the same: what is set up later is notified from then on.
  await checkbox(page, broken).check();
  await expectToast(page, "status", `${broken.name} will be notified about ${site.name}.`);
});

test("a failed worker is notified, and the page shows it without a reload", async ({
  connected: page,
  service,
  site,
  channels: { ops },
}) => {
  test.slow();
  await choose(service, site.id, [ops.id]);
  await open(page, service.url, site);
  await site.artisan("exit 1");
  await site.createWorker({ startsecs: 1, startretries: 0 });
  await expect(row(page, ops)).toContainText(/Worker failed/, { timeout: 25_000 });
  await expect(row(page, ops).getByText("delivered", { exact: true })).toBeVisible();
});

test("without channels the page says how to add one", async ({
  connected: page,
  service,
  site,
}) => {
  await open(page, service.url, site);
  await expect(page.getByText("No notification channels", { exact: true })).toBeVisible();
  await expect(page.getByText("notification_channels:")).toBeVisible();
  await expect(page.getByRole("button", { name: "Copy example" })).toBeVisible();
  await expectAccessible(page);
});

test.describe("where the service does not list the account's channels", () => {
  test("those of the site can be unchecked, and others are added by their id", async ({
    page,
    service,
    site,
    channels: { ops, team },
    expected,
  }) => {
    expected.push(/404 \(Not Found\)/, /422/);
    await choose(service, site.id, [ops.id]);
    const bare = await withoutExtras(service.url, "listNotificationChannels");
    await connectAs(page, bare.url);
    await open(page, bare.url, site);
    await expect(page.getByRole("button", { name: /Send test/ })).toHaveCount(0);

    const field = page.getByLabel("Channel id");
    const add = page.getByRole("button", { name: "Add channel" });
    await field.fill("x");
    await add.click();
    await expect(field).toHaveAccessibleDescription(/Enter a whole number/);
    await field.fill("99999");
    await add.click();
    await expect(field).toHaveAccessibleDescription(/^Couldn't add channel 99999/);
    await expect(field).toBeFocused();
    await expectAccessible(page);
    await field.fill(String(team.id));
    await add.click();
    await expect(checkbox(page, team)).toBeChecked();
    await expect(field).toHaveValue("");
    expect(await chosen(service, site.id)).toEqual([ops.id, team.id]);

    await checkbox(page, ops).uncheck();
    await expectToast(page, "status", `${ops.name} will no longer be notified about ${site.name}.`);
    // It stays in sight, for whoever did not mean it.
    await checkbox(page, ops).check();
    await expectToast(page, "status", `${ops.name} will be notified about ${site.name}.`);
    expect(await chosen(service, site.id)).toEqual([ops.id, team.id]);
    await bare.close();
  });
});

test("boxes and tests work by keyboard alone", async ({
  connected: page,
  service,
  site,
  channels: { ops },
}) => {
  await open(page, service.url, site);
  await page.getByRole("link", { name: "Notifications" }).focus();
  await page.keyboard.press("Tab");
  await expect(checkbox(page, ops)).toBeFocused();
  await page.keyboard.press("Space");
  await expect(checkbox(page, ops)).toBeChecked();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: `Send test to ${ops.name}` })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(row(page, ops).getByText("delivered", { exact: true })).toBeVisible();
  expect(await chosen(service, site.id)).toEqual([ops.id]);
});

test("the page is accessible and fits 360 px, light and dark", async ({
  connected: page,
  service,
  site,
  channels: { ops, team, slack },
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  slack.answerNext({ status: 400, body: "no_service" });
  await open(page, service.url, site);
  for (const [channel, outcome] of [
    [ops, "failed"],
    [team, "delivered"],
  ] as const) {
    await page.getByRole("button", { name: `Send test to ${channel.name}` }).click();
    await expect(row(page, channel).getByText(outcome, { exact: true })).toBeVisible();
  }
  await page.getByText("Add a channel").click();
  await checkbox(page, team).check();
  await expect(page.getByRole("button", { name: "Undo" })).toBeVisible();
  await expectNoSidewaysScroll(page);
  await expectAccessibleInBoth(page);
});
