import { expect } from "./fixtures.ts";
import { expectAccessible, expectToast } from "./helpers.ts";
import { channelList, checkbox, choose, open, row, test } from "./notification-channels.ts";

test.describe("a test message", () => {
  test("arrives, and the provider's response is shown beside it", async ({
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

  test("that is refused is shown as failed, with the provider's message and what to do @long", async ({
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

  test("can be sent once at a time, and the button says why @long", async ({
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
    // The page shows the message once it is stored, a moment before it is sent.
    await expect.poll(() => slack.requests.length).toBe(1);
    await expect(send).toBeDisabled();
    await expect(send).toHaveAccessibleDescription("A test message is already being sent.");
    await send.click({ force: true });
    await expect(send).toBeFocused();
    expect(slack.requests).toHaveLength(1);
  });

  test("is retried at once after the cause is fixed @long", async ({
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

test("a channel that cannot send says so, and why @long", async ({
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
  // The channel can be chosen nevertheless: once it is set up, it gets messages.
  await checkbox(page, broken).check();
  await expectToast(page, "status", `${broken.name} will be notified about ${site.name}.`);
});

test("sends a message about a failed worker, and shows it without a reload @long", async ({
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
