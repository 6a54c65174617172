import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import {
  clickRowAction,
  connectAs,
  createReadingToken,
  expectAccessible,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
  workerRow,
  ofWorker,
} from "./helpers.ts";
import { withoutExtras } from "./without-extras.ts";

const palette = (page: Page) => page.getByRole("dialog", { name: "Command palette" });
const field = (page: Page) => page.getByRole("combobox", { name: "Search names, actions and ids" });
const options = (page: Page) => palette(page).getByRole("option");
const active = (page: Page) => palette(page).getByRole("option", { selected: true });

/** Opens the palette by key, types, and waits until the results contain `answer`. */
async function ask(page: Page, text: string, answer: string | RegExp): Promise<void> {
  // A key that is pressed before the page has loaded is lost.
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.keyboard.press("Control+k");
  await field(page).fill(text);
  await expect(active(page)).toContainText(answer);
}

test("finds a page of a site by a few letters, and offers it again without any @long", async ({
  connected: page,
  service,
  site,
}) => {
  await page.goto(`${service.url}/`);
  await expect(page.getByRole("heading", { name: "Servers" })).toBeVisible();
  await ask(page, `${site.name.slice(0, -4)} webh`, `${site.name} webhooks`);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${service.url}/sites/${site.id}/webhooks`);
  await expect(palette(page)).toBeHidden();
  await expect(page.getByRole("heading", { name: "Webhooks" })).toBeFocused();

  await page.goBack();
  await page.getByRole("button", { name: "Search" }).click();
  await expect(palette(page).getByRole("group", { name: "Recent" })).toContainText(
    `${site.name} webhooks`,
  );
  await field(page).fill(`new worker ${site.name}`);
  // Results of the service arrive later, above the others.
  await expect(palette(page).getByRole("group", { name: "Sites" })).toContainText(site.name);
  await palette(page)
    .getByRole("option", { name: `New worker on ${site.name}` })
    .click();
  await expect(page.getByRole("heading", { name: "New worker" })).toBeFocused();

  await ask(page, "keyboard", "Keyboard shortcuts");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
});

test("runs the commands of the page, and says why others are disabled", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  const stuck = await site.createWorker({ startsecs: 60 });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expectRow(workerRow(page, id), "installed");
  const link = page.getByRole("link", { name: ofWorker(id) });
  await link.focus();

  // Actions of the focused row come first.
  await page.keyboard.press("Control+k");
  await expect(options(page).first()).toContainText(`Start default on database (worker ${id})`);
  await field(page).fill("restart");
  await expect(active(page)).toContainText(`Restart default on database (worker ${id})`);
  const pids = async () => (await site.worker(id)).process_list?.map(({ pid }) => pid);
  const before = await pids();
  await page.keyboard.press("Enter");
  // Does not wait for the state in transit, which a busy page may miss.
  await expect.poll(pids).not.toEqual(before);
  await expect(link).toBeFocused();
  await expectRow(workerRow(page, id), "installed");

  await ask(page, `stop worker ${stuck.id}`, "Can't stop while the status is installing");
  await expect(active(page)).toBeDisabled();
  await page.keyboard.press("Enter");
  await expect(active(page)).toBeVisible();
  await page.keyboard.press("Escape");

  await ask(page, `delete worker ${id}`, `Delete default on database (worker ${id})`);
  await page.keyboard.press("Enter");
  const question = page.getByRole("alertdialog", { name: "Delete default on database?" });
  await expect(question.getByRole("button", { name: "Cancel" })).toBeFocused();
  // The palette does not open over a confirmation.
  await page.keyboard.press("Control+k");
  await expect(palette(page)).toBeHidden();
  await page.keyboard.press("Escape");
  await expect(link).toBeFocused();

  // An action does not run when its object has changed since the palette was opened.
  await ask(page, `stop worker ${id}`, `Stop default on database (worker ${id})`);
  await service.call("DELETE", `/api/worker/${id}`);
  await expect(page.locator("tr", { has: page.getByText("default") })).toHaveCount(1, {
    timeout: 15_000,
  });
  await page.keyboard.press("Enter");
  await expectToast(page, "alert", `Couldn't run “Stop default on database (worker ${id})”.`);
});

test("opens an object by its id, whether or not the service lists its servers @long", async ({
  connected: page,
  service,
  site,
  expected,
}) => {
  expected.push(/404 \(Not Found\)/);
  const { id } = await site.createWorker({ queue: "mail" });
  await page.goto(`${service.url}/activity`);
  // Results may include a database, a site or a backup with the same id.
  await ask(page, `#${id}`, "");
  await expect(options(page).filter({ hasText: "mail on database" })).toBeVisible();
  await field(page).fill(`worker ${id}`);
  await expect(active(page)).toContainText("mail on database");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "mail on database" })).toBeFocused();
  await ask(page, `site ${site.id}`, site.name);
  await field(page).fill("site 99999");
  await expect(palette(page).getByText("No results for “site 99999”.")).toBeVisible();

  const bare = await withoutExtras(service.url, "search", "listServers", "showOverview");
  await connectAs(page, bare.url);
  await page.goto(bare.url);
  await expect(page.getByRole("heading", { name: "Sites and servers" })).toBeVisible();
  await ask(page, `site ${site.id}`, `Site ${site.id}`);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${bare.url}/sites/${site.id}/workers`);
  await expect(
    page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: `Site ${site.id}` }),
  ).toBeVisible();
  await ask(page, "mail", "mail on database");
  await field(page).fill("notif");
  await expect(active(page)).toContainText(`Site ${site.id} notifications`);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Notifications" })).toBeFocused();
  // Leaves the page, so that it sends no requests to the stopped service.
  await page.goto("about:blank");
  await bare.close();
});

test("opens by its shortcut as soon as a page is shown, fetched or cached @long", async ({
  connected: page,
  service,
}) => {
  // Presses the key as early as possible: before the page's first frame.
  await page.addInitScript(() =>
    new MutationObserver((_changes, observer) => {
      if (document.querySelector("main h1") === null) return;
      observer.disconnect();
      document.body.dispatchEvent(
        new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true, cancelable: true }),
      );
    }).observe(document, { childList: true, subtree: true }),
  );
  await page.goto(`${service.url}/activity`);
  await expect(field(page)).toBeFocused();
  await page.reload();
  await expect(field(page)).toBeFocused();
});

test("what is typed before its code has come is searched for, and goes into no field of the page @long", async ({
  connected: page,
  service,
  site,
}) => {
  const coming = Promise.withResolvers<void>();
  await page.route(/\/assets\/Overlays-/, async (route) => {
    await coming.promise;
    await route.continue();
  });
  await page.goto(`${service.url}/sites/${site.id}/workers/new`);
  const queue = page.getByLabel("Queue", { exact: true });
  await queue.press("Control+k");
  await page.keyboard.type(`${site.name}xx`);
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Backspace");
  coming.resolve();
  await expect(field(page)).toHaveValue(site.name);
  await expect(field(page)).toBeFocused();
  await expect(palette(page).getByRole("option", { name: site.name }).first()).toBeVisible();
  await expect(queue).toHaveValue("default");
});

test("works by keyboard on a narrow screen and from within a field, and returns the focus @long", async ({
  connected: page,
  service,
  site,
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${service.url}/sites/${site.id}/workers/new`);
  const queue = page.getByLabel("Queue", { exact: true });
  await queue.fill("mail");
  await page.keyboard.press("Control+k");
  await expect(field(page)).toBeFocused();
  // The list grows while the page's commands, servers and sites are loading; the active option stays active.
  await expect(options(page).first()).toHaveText("Copy command");
  await expect(palette(page).getByText("Loading servers and sites…")).toHaveCount(0);
  await page.keyboard.press("Home");
  await expect(active(page)).toHaveText("Copy command");
  const expectActive = (place: number) =>
    expect(async () => {
      const names = await options(page).allInnerTexts();
      expect(await active(page).innerText()).toBe(names.at(place));
    }).toPass({ timeout: 7000 });
  await page.keyboard.press("ArrowDown");
  await expectActive(1);
  await page.keyboard.press("End");
  await expectActive(-1);
  await expect(active(page)).toBeInViewport();
  await page.keyboard.press("ArrowDown");
  await expectActive(0);
  await page.keyboard.press("ArrowUp");
  await expectActive(-1);
  await page.keyboard.press("Home");
  await expectActive(0);
  await expect(field(page)).toHaveAttribute(
    "aria-activedescendant",
    (await active(page).getAttribute("id")) ?? "none",
  );
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await field(page).fill("xyzzy");
  await expect(palette(page).getByText("No results for “xyzzy”.")).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(palette(page)).toBeHidden();
  await expect(queue).toBeFocused();
  await expect(queue).toHaveValue("mail");

  // The menu closes when the palette opens, and gets the focus back.
  const menu = page.getByRole("button", { name: "Menu", exact: true });
  await menu.click();
  await page.getByRole("dialog", { name: "Menu" }).getByRole("button", { name: "Search" }).click();
  await expect(field(page)).toBeFocused();
  await expect(page.getByRole("dialog", { name: "Menu" })).toBeHidden();
  await page.keyboard.press("Control+k");
  await expect(palette(page)).toBeHidden();
  await expect(menu).toBeFocused();
});

test("opens an object that no page has shown with two keystrokes and four letters @long", async ({
  connected: page,
  service,
  site,
  backups,
}) => {
  const { id } = await site.createWorker({ queue: "exports", connection: "redis" });
  await page.goto(`${service.url}/activity`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.keyboard.press("Control+k");
  await expect(field(page)).toBeFocused();
  // Types without waiting: Enter waits for the palette's code, and for the results of the last letter.
  await page.keyboard.type("expo");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${service.url}/workers/${id}`);

  for (const text of ["redis exports", "exports on redis", `worker ${id}`]) {
    await ask(page, text, "exports on redis");
    await expect(active(page)).toContainText(`Worker ${id} · ${site.name}`);
    await page.keyboard.press("Escape");
  }
  await ask(page, backups.database.name, backups.database.name);
  await expect(palette(page).getByRole("group", { name: "Databases" })).toBeVisible();
  await field(page).fill("eprs");
  await expect(palette(page).getByText("No results for “eprs”.")).toBeVisible();
  await field(page).fill("%");
  await expect(palette(page).getByText("No results for “%”.")).toBeVisible();
});

test("offers the actions of a result, by keys and by pointer @long", async ({
  connected: page,
  service,
  site,
  backups,
}) => {
  const { id } = await site.createWorker({ queue: "imports" });
  await page.goto(`${service.url}/settings`);
  await ask(page, "imports", "imports on database");
  await page.keyboard.press("ArrowRight");
  await expect(options(page)).toHaveText(["Open", "Restart", "Stop", "View log", "Edit"]);
  await expectAccessible(page);
  // Esc leads back to the results, and does not close the palette.
  await page.keyboard.press("Escape");
  await expect(field(page)).toHaveValue("imports");
  await expect(active(page)).toContainText("imports on database");
  await page.keyboard.press("Tab");
  await page.keyboard.type("sto");
  await expect(active(page)).toHaveText("Stop");
  await page.keyboard.press("Enter");
  await expect(palette(page)).toBeHidden();
  await expect.poll(async () => (await site.worker(id)).status).toBe("stopped");

  const configuration = await backups.createConfiguration({ name: "Quarterly ledger" });
  await ask(page, "ledger", "Quarterly ledger");
  await active(page).locator("[data-tip=Actions]").click();
  await palette(page).getByRole("option", { name: "Run now" }).click();
  await expectToast(page, "status", "Started a backup of “Quarterly ledger”.");
  await expect
    .poll(async () => (await backups.configuration(configuration.id)).last_backup?.status)
    .toBe("finished");

  await ask(page, backups.server.name, backups.server.name);
  await page.keyboard.press("Tab");
  await field(page).fill("run all");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("alertdialog", { name: `Run 1 backup on ${backups.server.name}` });
  await expect(dialog).toContainText("Quarterly ledger");
  await dialog.getByRole("button", { name: "Close" }).click();
  await expect
    .poll(async () => (await backups.configuration(configuration.id)).backups.length)
    .toBe(2);
});

test("ignores the Enter that accepts a suggestion of an input method @long", async ({
  connected: page,
  service,
}) => {
  await page.goto(`${service.url}/`);
  await ask(page, "activity", "Activity");
  // Safari sends this key event after the text was inserted.
  const isTaken = await field(page).evaluate(
    (input) =>
      !input.dispatchEvent(
        new KeyboardEvent("keydown", {
          key: "Enter",
          keyCode: 229,
          bubbles: true,
          cancelable: true,
        }),
      ),
  );
  expect(isTaken).toBe(false);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Activity");
});

test("runs all backups of a server, and opens its page, by words alone @long", async ({
  connected: page,
  service,
  backups,
}) => {
  const configuration = await backups.createConfiguration({ name: "Quarterly ledger" });
  const { id, name } = backups.server;
  await page.goto(`${service.url}/settings`);
  await ask(page, `${name} server`, `${name} server`);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${service.url}/servers/${id}`);

  await ask(page, "run all", `Run all backups on ${name}`);
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("alertdialog", { name: `Run 1 backup on ${name}` });
  await dialog.getByRole("button", { name: "Close" }).click();
  await expect
    .poll(async () => (await backups.configuration(configuration.id)).backups.length)
    .toBe(1);
});

test("shows why a command is disabled, and does not run it @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker({ queue: "stuck", startsecs: 60 });
  await page.goto(`${service.url}/settings`);
  await ask(page, "stuck", "stuck on database");
  await page.keyboard.press("Tab");
  await field(page).fill("restart");
  await expect(active(page)).toContainText("Can't restart while the status is installing.");
  await page.keyboard.press("Enter");
  await expect(palette(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await expect(palette(page)).toBeHidden();
  expect((await site.worker(id)).status).toBe("installing");

  await site.createWorker({ queue: "readable" });
  await connectAs(page, service.url, await createReadingToken(service));
  await page.goto(`${service.url}/activity`);
  await ask(page, "readable", "readable on database");
  await expect(active(page)).not.toContainText("installing");
  await page.keyboard.press("Tab");
  await field(page).fill("stop");
  await expect(active(page)).toContainText("token can only read");
  await page.keyboard.press("Enter");
  await expect(palette(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  // Tokens are found only with a token that may list them.
  await page.keyboard.press("Control+k");
  await field(page).fill("viewer");
  await expect(palette(page).getByText("No results for “viewer”.")).toBeVisible();
});

test("selects the theme, and marks the current one @long", async ({ connected: page, service }) => {
  await page.goto(`${service.url}/activity`);
  await ask(page, "theme dark", "Theme: Dark");
  await page.keyboard.press("Enter");
  const scheme = () => page.evaluate(() => document.documentElement.style.colorScheme);
  await expect.poll(scheme).toBe("dark");
  await ask(page, "theme dark", "Current");
  await field(page).fill("theme system");
  await page.keyboard.press("Enter");
  await expect.poll(scheme).toBe("");
});

test("loads at once when it is needed, however busy the browser is @long", async ({
  connected: page,
  service,
  site,
}) => {
  await page.addInitScript(() => (globalThis.requestIdleCallback = () => 0));
  const { id } = await site.createWorker();
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await clickRowAction(page, id, "Delete");
  await expect(page.getByRole("alertdialog")).toContainText("Delete default on database?");
});

test("reports a failure to load, and keeps the page @long", async ({
  connected: page,
  service,
  site,
  expected,
}) => {
  expected.push(/Failed to load resource/);
  await page.route(/\/assets\/Overlays-/, (route) => route.abort());
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expect(page.getByRole("alert")).toContainText("Couldn't load part of the dashboard");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Workers");
  await expectAccessible(page);
  await page.unroute(/\/assets\/Overlays-/);
  await page.getByRole("button", { name: "Reload" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "could not be loaded" })).toBeHidden();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Workers");
  await page.keyboard.press("Control+k");
  await expect(palette(page)).toBeVisible();
});
