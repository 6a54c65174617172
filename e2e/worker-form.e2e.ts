import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./helpers.ts";

/** The fields that few change stand folded below the others. */
const unfold = (page: Page) => page.getByText("Advanced", { exact: true }).click();

test.describe("the form", () => {
  test("a note leads to the documentation, in a tab of its own", async ({
    connected: page,
    service,
    site,
    context,
  }) => {
    await page.goto(`${service.url}/sites/${site.id}/workers/new`);
    const opened = context.waitForEvent("page");
    await page.getByRole("link", { name: "How workers run" }).click();
    await expect(
      (await opened).getByRole("heading", { name: "Workers", level: 1, exact: true }),
    ).toBeVisible();
  });

  test("shows the command as it is filled in, and warns without blocking", async ({
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
    await page.getByRole("button", { name: "Create worker" }).click();
    await expect(page.getByRole("heading", { name: "New worker" })).toBeHidden();
  });

  test("shows what does not fit at its field and sends nothing", async ({
    connected: page,
    service,
    site,
  }) => {
    await page.goto(`${service.url}/sites/${site.id}/workers/new`);
    await page.getByLabel("Queue", { exact: true }).fill("a b");
    await unfold(page);
    await page.getByLabel("Memory", { exact: true }).fill("1");
    await page.getByLabel("Tries", { exact: true }).fill("");
    await page.getByRole("button", { name: "Create worker" }).click();
    await expect(page.getByLabel("Queue", { exact: true })).toBeFocused();
    await expect(page.getByLabel("Queue", { exact: true })).toHaveAccessibleDescription(
      /comma-separated/,
    );
    await expect(page.getByText("Memory must be at least 16.")).toBeVisible();
    await expect(page.getByText("Tries is required.")).toBeVisible();
    await expectAccessible(page);
    const list = await service.call("GET", `/api/site/${site.id}/workers`);
    expect(await list.json()).toMatchObject({ meta: { total: 0 } });
  });

  test("shows four fields, says what the others are set to, and can be saved at once", async ({
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
    // What the interface calls a field is no word for people.
    await expect(form).not.toContainText("max_jobs");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Create worker" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("default on redis");
  });

  test("refuses a directory that leaves the site while it is typed, and unfolds for what is wrong", async ({
    connected: page,
    service,
    site,
  }) => {
    await page.goto(`${service.url}/sites/${site.id}/workers/new`);
    const directory = page.getByLabel("Directory", { exact: true });
    await expect(directory).toBeHidden();
    await unfold(page);
    await directory.pressSequentially("../other");
    await expect(directory).toHaveAccessibleDescription(/must lie inside the site's folder/);
    await expect(directory).toBeFocused();
    await unfold(page);
    await page.getByRole("button", { name: "Create worker" }).click();
    await expect(directory).toBeVisible();
    const list = await service.call("GET", `/api/site/${site.id}/workers`);
    expect(await list.json()).toMatchObject({ meta: { total: 0 } });
  });

  test("puts what only the service can know at its field too", async ({
    connected: page,
    service,
    site,
    expected,
  }) => {
    expected.push(/422/);
    await page.goto(`${service.url}/sites/${site.id}/workers/new`);
    await unfold(page);
    await page.getByLabel("Directory", { exact: true }).fill("missing");
    await page.getByRole("button", { name: "Create worker" }).click();
    await expect(page.getByLabel("Directory", { exact: true })).toHaveAccessibleDescription(
      /Directory is not there/,
    );
    await expect(page.getByLabel("Directory", { exact: true })).toBeFocused();
  });

  test("asks before what was filled in is lost", async ({ connected: page, service, site }) => {
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

  test("creates one worker however often the button is pressed", async ({
    connected: page,
    service,
    site,
  }) => {
    await page.goto(`${service.url}/sites/${site.id}/workers/new`);
    const create = page.getByRole("button", { name: /Creat/ });
    await create.click({ clickCount: 3 });
    await expect(page.getByRole("heading", { name: "New worker" })).toBeHidden();
    const list = await service.call("GET", `/api/site/${site.id}/workers`);
    expect(await list.json()).toMatchObject({ meta: { total: 1 } });
  });
});
