import type { Page } from "@playwright/test";
import { defaultPerPage, maxPerPage } from "../contract/paging.ts";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import { type Backups, expect, test } from "./fixtures.ts";
import { expectAccessible } from "./helpers.ts";
import { breakDatabase } from "./backup-helpers.ts";

test.describe("the overview", () => {
  const overviewOf = (page: Page, { server }: Backups) =>
    page.getByRole("region", { name: server.name, exact: true });

  /** Opens the page of the overview that lists the server; earlier tests add servers before it. */
  const openOverview = async (page: Page, service: ServiceProcess, { server }: Backups) => {
    const response = await service.call("GET", `/api/servers?per_page=${maxPerPage}`);
    const { data }: { data: { id: number }[] } = await response.json();
    const before = data.findIndex(({ id }) => id === server.id);
    expect(before).not.toBe(-1);
    await page.goto(`${service.url}/?page=${Math.floor(before / defaultPerPage) + 1}`);
  };

  test("says what nothing backs up, leads to the cure, and is calm once all is protected", async ({
    connected: page,
    service,
    backups,
  }) => {
    const overview = overviewOf(page, backups);
    const problem = (name: string) =>
      overview
        .getByRole("listitem")
        .filter({ hasText: name })
        .filter({ hasText: "No backup configured." });
    await openOverview(page, service, backups);
    await expect(problem(backups.database.name)).toBeVisible();
    await expect(problem(backups.site.name)).toBeVisible();
    await expectAccessible(page);
    await problem(backups.site.name).getByRole("link", { name: "Set up backup" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("New backup");
    await expect(page.getByRole("combobox", { name: "Site" })).toHaveValue(String(backups.site.id));

    const database = await backups.createConfiguration();
    const site = await backups.createConfiguration({
      backupable_type: "site",
      backupable_id: backups.site.id,
    });
    await openOverview(page, service, backups);
    await expect(overview.getByText("No backup yet.")).toHaveCount(2);
    await backups.run(database.id);
    await backups.run(site.id);
    await openOverview(page, service, backups);
    const calm = overview.getByText("All protected: 2 databases and sites");
    await expect(calm).toBeVisible();
    await calm.click();
    await overview
      .getByRole("listitem")
      .filter({ hasText: backups.database.name })
      .getByRole("link", { name: database.name })
      .click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(database.name);
  });

  test("says what wants a look although there is a good backup", async ({
    connected: page,
    service,
    backups,
  }) => {
    const { id, name } = await backups.createConfiguration();
    await backups.run(id);
    await breakDatabase(backups);
    await backups.run(id);
    await openOverview(page, service, backups);
    const row = overviewOf(page, backups)
      .getByRole("listitem")
      .filter({ hasText: backups.database.name });
    await expect(row).toContainText("The last run failed.");
    await row.getByRole("link", { name }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
  });
});
