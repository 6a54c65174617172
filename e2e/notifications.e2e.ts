import type { Page } from "@playwright/test";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import { expect } from "./fixtures.ts";
import {
  connectAs,
  createReadingToken,
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectToast,
} from "./helpers.ts";
import { withoutExtras } from "./without-extras.ts";
import { checkbox, choose, open, row, test } from "./notification-channels.ts";
import { sendSignal } from "../server/testing/signals.ts";

async function chosen(service: ServiceProcess, siteId: number): Promise<number[]> {
  const answer = await service.call("GET", `/api/site/${siteId}/notifications`);
  return idsIn(answer);
}

async function idsIn(answer: Response): Promise<number[]> {
  const { data }: { data: { id: number }[] } = await answer.json();
  return data.map(({ id }) => id);
}

/** Records, in each frame, which checkboxes are shown as checked. */
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

test("a site uses a channel once its box is checked, and no longer once it is unchecked", async ({
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
  await expect(page.getByRole("main")).toContainText("backups, workers, webhooks, deployments");

  // Changes by others since the page was opened are kept.
  await choose(service, site.id, []);
  await checkbox(page, ops).check();
  await expectToast(page, "status", `${ops.name} will be notified about ${site.name}.`);
  expect(await chosen(service, site.id)).toEqual([ops.id]);
  await expect(checkbox(page, team)).not.toBeChecked();
  await choose(service, site.id, [team.id]);
  await page.reload();
  // Until it is read again, the page shows what was read before.
  await expect(checkbox(page, ops)).not.toBeChecked();
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

test("selects a server's own channels next to its backups, for events of none of its sites @long", async ({
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

test("a saved change can be undone, which returns the focus to its box @long", async ({
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

test("saves both of two boxes that are checked before the service has responded @long", async ({
  connected: page,
  service,
  site,
  channels: { ops, team },
}) => {
  await open(page, service.url, site);
  const answered = () => page.waitForResponse((response) => response.request().method() === "PUT");
  await watchBoxes(page);
  sendSignal(service.pid, "SIGSTOP");
  const first = answered();
  try {
    await checkbox(page, ops).check();
    await checkbox(page, team).check();
  } finally {
    sendSignal(service.pid, "SIGCONT");
  }
  await first;
  await expectToast(page, "status", `${team.name} will be notified about ${site.name}.`);
  // The first response contains only one of the channels, which must not show.
  expect(await seenBoxes(page)).toEqual(["--", "x-", "xx"]);
  expect(await chosen(service, site.id)).toEqual([ops.id, team.id]);
});

test("reverts and reports a change that the service refuses, and keeps the focus @long", async ({
  page,
  service,
  site,
  channels: { ops, team },
  expected,
}) => {
  expected.push(/403 \(Forbidden\)/, /404 \(Not Found\)/);
  await choose(service, site.id, [team.id]);
  // Without `showCurrentToken`, the dashboard learns only from a 403 that the token can only read.
  const bare = await withoutExtras(service.url, "showCurrentToken");
  await connectAs(page, bare.url, await createReadingToken(service));
  await open(page, bare.url, site);

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
  // Leaves the page, so that it sends no requests to the stopped service.
  await page.goto("about:blank");
  await bare.close();
});

test("explains how to add a channel when there is none @long", async ({
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
  test("deselects those of the site, and adds others by their id @long", async ({
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
    // The deselected channel stays on screen, so that it can be selected again.
    await checkbox(page, ops).check();
    await expectToast(page, "status", `${ops.name} will be notified about ${site.name}.`);
    expect(await chosen(service, site.id)).toEqual([ops.id, team.id]);
    // Leaves the page, so that it sends no requests to the stopped service.
    await page.goto("about:blank");
    await bare.close();
  });
});

test("boxes and tests work by keyboard alone @long", async ({
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

test("the page is accessible and fits 360 px, light and dark @long", async ({
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

test.describe("the events of a selected channel", () => {
  const eventsOf = (page: Page, { name }: { name: string }) =>
    page.getByRole("combobox", { name: `Events for ${name}` });
  const stored = async (service: ServiceProcess, owner: string) =>
    (await service.call("GET", `/api/${owner}/notification-events`)).json();

  test("are all, the problems, or a list, which is saved at once and applied to messages", async ({
    connected: page,
    service,
    site,
    channels: { slack, ops, team },
  }) => {
    await choose(service, site.id, [ops.id]);
    await page.goto(`${service.url}/sites/${site.id}/notifications`);
    await expect(eventsOf(page, team)).toBeHidden();
    await expect(eventsOf(page, ops)).toHaveValue("all");
    await eventsOf(page, ops).selectOption("Problems only");
    await expect
      .poll(() => stored(service, `site/${site.id}`))
      .toEqual({ channels: [{ id: ops.id, events: "problems" }] });
    const before = slack.accepted.length;
    await service.call("POST", `/api/site/${site.id}/deployment`, { status: "finished" });
    await service.call("POST", `/api/site/${site.id}/deployment`, { status: "failed" });
    await expect.poll(() => slack.accepted.length).toBe(before + 1);
    expect(JSON.stringify(slack.accepted.at(-1))).toContain("failed");

    await eventsOf(page, ops).selectOption("Chosen events…");
    const list = page.getByRole("group", { name: `Chosen events for ${ops.name}` });
    await expect(list.getByLabel("Backup failed")).toBeChecked();
    await expect(list.getByLabel("Backup finished")).not.toBeChecked();
    await expectAccessibleInBoth(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectNoSidewaysScroll(page);
    await list.getByLabel("Backup finished").check();
    await expect
      .poll(async () => JSON.stringify(await stored(service, `site/${site.id}`)))
      .toContain("backup.finished");
    // The last event cannot be deselected; deselecting the channel does that.
    const boxes = list.getByRole("checkbox", { checked: true });
    for (let left = await boxes.count(); left > 1; left--) {
      await boxes.first().uncheck();
      await expect(boxes).toHaveCount(left - 1);
    }
    await boxes.first().click();
    await expect(list.getByRole("alert")).toHaveText(
      "Choose at least one event, or deselect the channel.",
    );
    await expect(boxes).toHaveCount(1);

    // The changes are saved one after the other, the last one before the test removes the channel.
    await expect
      .poll(() => stored(service, `site/${site.id}`))
      .toEqual({ channels: [{ id: ops.id, events: [expect.any(String)] }] });

    // A channel that has just been selected gets all events. They are read while a change of other events is being saved.
    const holds = ["notifications", "notification-events"].map((end) => {
      const hold = Promise.withResolvers<void>();
      void page.route(`**/api/site/${site.id}/${end}`, async (route) => {
        if (route.request().method() === "PUT") await hold.promise;
        await route.continue();
      });
      return hold;
    });
    const [selection, events] = holds;
    await checkbox(page, team).check();
    const saving = page.waitForRequest(
      (request) => request.method() === "PUT" && request.url().endsWith("/notification-events"),
    );
    await eventsOf(page, ops).selectOption("Problems only");
    await saving;
    selection?.resolve();
    await expect(eventsOf(page, team)).toHaveValue("all");
    events?.resolve();
    await expect(eventsOf(page, ops)).toHaveValue("problems");
  });

  test("are selected for a server's own channels as well, and read-only for a token that can only read @long", async ({
    connected: page,
    service,
    channels: { ops, team },
  }) => {
    const path = "/api/server/1/notifications";
    await service.call("PUT", path, { channels: [ops.id] });
    await page.goto(`${service.url}/servers/1/notifications`);
    await expect(eventsOf(page, ops)).toHaveValue("all");
    await expect(eventsOf(page, team)).toBeHidden();
    await eventsOf(page, ops).selectOption("Problems only");
    await expect
      .poll(() => stored(service, "server/1"))
      .toEqual({ channels: [{ id: ops.id, events: "problems" }] });
    await eventsOf(page, ops).selectOption("Chosen events…");
    const list = page.getByRole("group", { name: `Chosen events for ${ops.name}` });
    await list.getByLabel("Backup finished").check();
    await expect
      .poll(async () => JSON.stringify(await stored(service, "server/1")))
      .toContain("backup.finished");
    await expectAccessibleInBoth(page);
    // A channel that has just been selected gets all events.
    await checkbox(page, team).check();
    await expect(eventsOf(page, team)).toHaveValue("all");

    await connectAs(page, service.url, await createReadingToken(service));
    await page.goto(`${service.url}/servers/1/notifications`);
    await expect(eventsOf(page, team)).toBeDisabled();
    await expect(eventsOf(page, team)).toHaveAccessibleDescription("This token can only read.");
    await service.call("PUT", path, { channels: [] });
  });

  test("cannot be changed with a read-only token @long", async ({
    connected: page,
    service,
    site,
    channels: { ops },
  }) => {
    await choose(service, site.id, [ops.id]);
    await connectAs(page, service.url, await createReadingToken(service));
    await page.goto(`${service.url}/sites/${site.id}/notifications`);
    await expect(eventsOf(page, ops)).toBeDisabled();
    await expect(eventsOf(page, ops)).toHaveAccessibleDescription("This token can only read.");
  });

  test("are not offered by a service without this choice @long", async ({
    connected: page,
    service,
    site,
    channels: { ops },
    expected,
  }) => {
    expected.push(/404/);
    await choose(service, site.id, [ops.id]);
    const bare = await withoutExtras(service.url, "showNotificationEvents");
    await connectAs(page, bare.url, service.token);
    await page.goto(`${bare.url}/sites/${site.id}/notifications`);
    await expect(checkbox(page, ops)).toBeChecked();
    await expect(eventsOf(page, ops)).toBeHidden();
    await page.goto("about:blank");
    // Leaves the page, so that it sends no requests to the stopped service.
    await page.goto("about:blank");
    await bare.close();
  });
});
