import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "./fixtures.ts";
import { expectAccessible, expectToast, ofWorker } from "./helpers.ts";
import { sendSignal } from "../server/testing/signals.ts";

test.describe("a worker's page", () => {
  test("shows processes and settings, and follows the log with pause and search", async ({
    connected: page,
    service,
    site,
    context,
  }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await site.artisan('i=0; while :; do i=$((i+1)); echo "line $i"; sleep 0.2; done');
    const { id } = await site.createWorker({ processes: 1 });
    await page.goto(`${service.url}/workers/${id}`);
    const [process] = (await site.worker(id)).process_list ?? [];
    await expect(page.getByRole("cell", { name: String(process?.pid), exact: true })).toBeVisible();
    await expect(page.getByRole("cell", { name: "running" })).toBeVisible();
    const log = page.getByRole("log", { name: "Log of default on database" });
    await expect(log).toContainText("line 3");
    await expect(log).toContainText("line 8");
    await expectAccessible(page);

    const search = page.getByRole("searchbox", { name: "Search the log" });
    await search.fill("LINE 2");
    await expect(page.getByText(/^\d+ match/)).toBeVisible();
    await page.getByRole("button", { name: "Pause log" }).click();
    await search.press("Enter");
    await search.press("Enter");
    await expect(page.getByText(/^(\d+ of \d+ matches|1 of 1 match)$/)).toBeVisible();
    const found = await page.evaluate(() =>
      ["found", "found-now"].map((name) =>
        [...(CSS.highlights.get(name) ?? [])].map(({ startContainer, startOffset, endOffset }) =>
          startContainer.textContent?.slice(startOffset, endOffset),
        ),
      ),
    );
    expect(new Set(found[0])).toEqual(new Set(["line 2"]));
    expect(found[1]).toEqual(["line 2"]);
    const paused = await log.textContent();
    await page.getByRole("button", { name: "Copy log" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("line 5");
    expect(await log.textContent()).toBe(paused);
    await page.getByRole("button", { name: "Resume log" }).click();
    await expect.poll(async () => (await log.textContent()) !== paused).toBe(true);
  });

  test("keeps the current match while older lines make room for new ones @long", async ({
    connected: page,
    service,
    site,
  }) => {
    const more = join(service.folder, `more-${site.id}`);
    await site.artisan(
      `seq -f "error %g" 1000; while :; do if [ -e ${more} ]; then rm ${more}; seq -f "error %g" 2001 3500; fi; sleep 0.1; done`,
    );
    const { id } = await site.createWorker();
    await page.goto(`${service.url}/workers/${id}`);
    const search = page.getByRole("searchbox", { name: "Search the log" });
    await search.fill("error");
    await expect(page.getByText("1,000 matches", { exact: true })).toBeVisible();
    for (let count = 0; count < 3; count++) await search.press("Enter");
    await expect(page.getByText("998 of 1,000 matches")).toBeVisible();
    await writeFile(more, "");
    // Of 2,500 lines, the page keeps the newest 2,000.
    await expect(page.getByText("498 of 2,000 matches")).toBeVisible();
    await search.press("Enter");
    await expect(page.getByText("497 of 2,000 matches")).toBeVisible();
    const found = await page.evaluate(() =>
      [...(CSS.highlights.get("found-now") ?? [])].map(
        ({ startContainer }) => startContainer.textContent,
      ),
    );
    expect(found).toEqual(["error 997"]);
  });

  test("shows CPU and memory of each process, on hover and by keyboard @long", async ({
    connected: page,
    service,
    site,
  }) => {
    test.setTimeout(120_000);
    const { id } = await site.createWorker({ processes: 2 });
    await page.goto(`${service.url}/workers/${id}`);
    const panel = page.getByRole("region", { name: "CPU and memory" });
    await expect(panel).toContainText("The first figures come within 30 s.");
    const memory = panel.getByRole("slider", { name: "Memory of process 2" });
    await expect(memory).toBeVisible({ timeout: 90_000 });
    await memory.focus();
    await page.keyboard.press("Home");
    await expect(memory).toHaveAttribute("aria-valuetext", /MB at \d\d:\d\d:\d\d/);
    await expect(panel.getByText(/MB at \d\d:\d\d:\d\d/)).toBeVisible();
    await panel.getByRole("slider", { name: "CPU of process 1" }).hover();
    await expect(panel.getByText(/% at \d\d:\d\d:\d\d/)).toBeVisible();
    await expectAccessible(page);
  });

  test("shows a process that died and was restarted @long", async ({
    connected: page,
    service,
    site,
  }) => {
    const { id } = await site.createWorker();
    await page.goto(`${service.url}/workers/${id}`);
    await expect(page.getByRole("cell", { name: "running" })).toBeVisible();
    const [before] = (await site.worker(id)).process_list ?? [];
    sendSignal(before?.pid, "SIGKILL");
    await expect(page.getByRole("cell", { name: String(before?.pid), exact: true })).toBeHidden({
      timeout: 15_000,
    });
    await expect(page.getByRole("cell", { name: "1", exact: true }).last()).toBeVisible();
    await expect(page.getByRole("cell", { name: "running" })).toBeVisible();
  });

  test("deleting a worker returns to the list @long", async ({
    connected: page,
    service,
    site,
  }) => {
    const { id } = await site.createWorker();
    await page.goto(`${service.url}/workers/${id}`);
    await page.getByRole("button", { name: ofWorker(id, "Delete") }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete worker" }).click();
    await expectToast(page, "status", "Deleting default on database.");
    await expect(page).toHaveURL(`${service.url}/sites/${site.id}/workers`);
  });
});
