import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { expectAccessible, workerRow } from "./helpers.ts";

/** Expands the section of rarely changed fields. */
const unfold = (page: Page) => page.getByText("Advanced", { exact: true }).click();

test.describe("the form", () => {
  test("shows the command as it is filled in, warns without blocking, and creates one worker however often its button is pressed", async ({
    connected: page,
    service,
    site,
  }) => {
    await page.goto(`${service.url}/sites/${site.id}/workers/new`);
    const main = page.getByRole("main");
    await expect(main).toContainText("sh artisan queue:work database --queue=default");
    await page.getByRole("textbox", { name: "Connection", exact: true }).fill("redis");
    await unfold(page);
    await page.getByLabel("Force", { exact: true }).check();
    await expect(main).toContainText(
      "sh artisan queue:work redis --queue=default --sleep=3 --tries=1 --timeout=60 --memory=128 --max-jobs=0 --max-time=0 --force",
    );
    await page.getByLabel("Stop seconds", { exact: true }).fill("5");
    await expect(main).toContainText("a stop or restart kills jobs");
    await page.getByLabel("Stop signal", { exact: true }).selectOption("USR2");
    await expect(main).toContainText("USR2 only pauses");
    await page.getByLabel("Memory", { exact: true }).fill("9999999");
    await expect(main).toContainText("exceeds the machine's");
    await expectAccessible(page);
    await page.getByRole("button", { name: /Creat/ }).click({ clickCount: 3 });
    await expect(page.getByRole("heading", { name: "New worker" })).toBeHidden();
    const list = await service.call("GET", `/api/site/${site.id}/workers`);
    expect(await list.json()).toMatchObject({ meta: { total: 1 } });
  });

  test("shows four fields and a summary of the others, and can be saved at once @long", async ({
    connected: page,
    service,
    site,
  }) => {
    await site.createWorker({ connection: "redis" });
    await page.goto(`${service.url}/sites/${site.id}/workers/new`);
    const form = page.getByRole("form", { name: "New worker" });
    await expect(form.getByRole("textbox")).toHaveCount(4);
    await expect(page.getByRole("textbox", { name: "Connection", exact: true })).toHaveValue(
      "redis",
    );
    await expect(form).toContainText("128 MB · 1 try · sleep 3 s · no max jobs");
    await unfold(page);
    await page.getByLabel("Memory", { exact: true }).fill("256");
    await unfold(page);
    await expect(form).toContainText("256 MB");
    // The form must not show the interface's names of fields.
    await expect(form).not.toContainText("max_jobs");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Create worker" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("default on redis");
  });

  test("shows errors at their fields, of a directory while it is typed, and those that only the service can detect", async ({
    connected: page,
    service,
    site,
    expected,
  }) => {
    const expectNoWorker = async () => {
      const list = await service.call("GET", `/api/site/${site.id}/workers`);
      expect(await list.json()).toMatchObject({ meta: { total: 0 } });
    };
    await page.goto(`${service.url}/sites/${site.id}/workers/new`);
    const directory = page.getByLabel("Directory", { exact: true });
    const create = page.getByRole("button", { name: "Create worker" });
    await expect(directory).toBeHidden();
    await unfold(page);
    await directory.pressSequentially("../other");
    await expect(directory).toHaveAccessibleDescription(/must lie inside the site's folder/);
    await expect(directory).toBeFocused();
    await unfold(page);
    await create.click();
    await expect(directory).toBeVisible();
    await expectNoWorker();

    await directory.fill("missing");
    const queue = page.getByLabel("Queue", { exact: true });
    await queue.fill("a b");
    await page.getByLabel("Memory", { exact: true }).fill("1");
    await page.getByLabel("Tries", { exact: true }).fill("");
    await create.click();
    await expect(queue).toBeFocused();
    await expect(queue).toHaveAccessibleDescription(/comma-separated/);
    await expect(page.getByText("Memory must be at least 16.")).toBeVisible();
    await expect(page.getByText("Tries is required.")).toBeVisible();
    await expectAccessible(page);
    await expectNoWorker();

    // Errors that only the service can detect are shown at their fields, too.
    expected.push(/422/);
    await queue.fill("default");
    await page.getByLabel("Memory", { exact: true }).fill("128");
    await page.getByLabel("Tries", { exact: true }).fill("1");
    await create.click();
    await expect(directory).toHaveAccessibleDescription(/Directory is not there/);
    await expect(directory).toBeFocused();
  });

  test("is replaced in the history after saving: Back leads to the previous page, and still asks before other changes are lost @long", async ({
    connected: page,
    service,
    site,
  }) => {
    const list = `${service.url}/sites/${site.id}/workers`;
    await page.goto(list);
    await page.getByRole("link", { name: "New worker" }).first().click();
    await page.getByRole("button", { name: "Create worker" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("default on database");
    await page.goBack();
    await expect(page).toHaveURL(list);
    await page.goForward();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("default on database");

    // The page that a form was opened on stands in the history once.
    await page.getByRole("link", { name: "Edit" }).first().click();
    await page.getByLabel("Queue", { exact: true }).fill("high");
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("high on database");
    await page.goBack();
    await expect(page).toHaveURL(list);
    await page.goForward();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("high on database");

    await page.getByRole("link", { name: "Edit" }).first().click();
    await page.getByLabel("Queue", { exact: true }).fill("mail");
    await page.goBack();
    await page.getByRole("button", { name: "Keep editing" }).click();
    await expect(page.getByLabel("Queue", { exact: true })).toHaveValue("mail");
  });

  test("Cancel and a deletion return to the list with its search, and Back leads to neither the form nor the deleted worker @long", async ({
    connected: page,
    service,
    site,
  }) => {
    const { id } = await site.createWorker({ startsecs: 0 });
    const list = `${service.url}/sites/${site.id}/workers`;
    const heading = page.getByRole("heading", { level: 1 });
    await page.goto(`${service.url}/sites/${site.id}/webhooks`);
    await page.getByRole("main").getByRole("link", { name: "Workers" }).click();
    await page.getByRole("searchbox", { name: "Filter workers" }).fill("default");
    await expect(page).toHaveURL(`${list}?q=default`);

    await page.getByRole("link", { name: "New worker" }).first().click();
    await page.getByRole("link", { name: "Cancel" }).click();
    await expect(page).toHaveURL(`${list}?q=default`);

    await workerRow(page, id).getByRole("link").first().click();
    await page.getByRole("link", { name: "Edit" }).first().click();
    await page.getByLabel("Queue", { exact: true }).fill("mail");
    await page.getByRole("link", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Discard changes" }).click();
    await expect(heading).toHaveText("default on database");

    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await expect(page).toHaveURL(`${list}?q=default`);
    await page.goBack();
    await expect(heading).toHaveText("Webhooks");

    // Without a previous page, Cancel leads to the list.
    await page.goto("about:blank");
    await page.goto(`${list}/new`);
    await page.getByRole("link", { name: "Cancel" }).click();
    await expect(page).toHaveURL(list);
  });

  test("asks before input is discarded @long", async ({ connected: page, service, site }) => {
    await page.goto(`${service.url}/sites/${site.id}/workers/new`);
    await page.getByLabel("Queue", { exact: true }).fill("mail");
    await page
      .getByRole("link", { name: "Cancel" })
      .or(page.getByRole("button", { name: "Cancel" }))
      .click();
    await page.getByRole("button", { name: "Keep editing" }).click();
    await expect(page.getByLabel("Queue", { exact: true })).toHaveValue("mail");
    await page
      .getByRole("link", { name: "Cancel" })
      .or(page.getByRole("button", { name: "Cancel" }))
      .click();
    await page.getByRole("button", { name: "Discard changes" }).click();
    await expect(page.getByRole("heading", { name: "Workers" })).toBeVisible();
  });
});
