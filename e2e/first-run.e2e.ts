// Tests the first start of the service, with its sample and with an empty inventory.
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeMemoryFolder } from "../server/testing/memory-folder.ts";
import { startService } from "../server/testing/service-process.ts";
import { expect, test } from "./fixtures.ts";
import { connectAs, expectAccessibleInBoth } from "./helpers.ts";

test("lists the first steps of a new service and marks its sample, until the user dismisses them", async ({
  page,
}) => {
  const folder = await makeMemoryFolder("quarterdeck-first-");
  await chmod(folder, 0o711);
  const service = await startService(folder);
  try {
    await connectAs(page, service.url);
    await page.goto(service.url);
    const steps = page.getByRole("region", { name: "First steps" });
    const step = (name: string) => steps.getByRole("listitem").filter({ hasText: name });
    await expect(step("Connect a server")).toContainText("done");
    // The sample does not count as a site of the user.
    await expect(step("Add a site")).toContainText("to do");
    await expect(steps).toContainText("The site “sample” is a sample");
    const nav = page.getByRole("navigation", { name: "Main" });
    await expect(nav.getByRole("link", { name: "sample" })).toHaveAccessibleDescription(/^Sample/);
    await expect(nav.getByText("Sample", { exact: true })).toBeVisible();
    await expectAccessibleInBoth(page);
    await step("Set up a backup").getByRole("link", { name: "New backup" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("New backup");
    await page.goBack();

    await service.call("PUT", "/api/site/1/notifications", { channels: [2] });
    await page.reload();
    await expect(step("Choose who is notified")).toContainText("done");
    await steps.getByRole("button", { name: "Dismiss" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
    await expect(steps).toBeHidden();
    await page.reload();
    await expect(page.getByRole("link", { name: /^Protected/ })).toContainText("0 of 2");
    await expect(steps).toBeHidden();
  } finally {
    // An open page would send requests to the stopped service.
    await page.goto("about:blank");
    await service.end("SIGINT");
    await rm(folder, { recursive: true, force: true });
  }
});

test("says what to do without any server, and does not claim that all is well @long", async ({
  page,
}) => {
  const folder = await makeMemoryFolder("quarterdeck-empty-");
  await chmod(folder, 0o711);
  await writeFile(join(folder, "inventory.yaml"), "servers: []\n");
  const service = await startService(folder);
  try {
    await connectAs(page, service.url);
    await page.goto(service.url);
    await expect(page.getByText("No servers")).toBeVisible();
    await expect(page.getByText("No problems")).toHaveCount(0);
    await expect(page.getByRole("link", { name: /^Protected/ })).toHaveCount(0);
    await expectAccessibleInBoth(page);
  } finally {
    // An open page would send requests to the stopped service.
    await page.goto("about:blank");
    await service.end("SIGINT");
    await rm(folder, { recursive: true, force: true });
  }
});
