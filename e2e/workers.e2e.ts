import { expect, test } from "./fixtures.ts";
import {
  clickRowAction,
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
  workerRow,
} from "./helpers.ts";

/** A list on which nothing moves is asked for every ten seconds, and up to a quarter later. */
const listPollMs = 13_000;

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test("a person creates a worker, watches it being installed, stops, starts, restarts and deletes it, and real processes do the same", async ({
  connected: page,
  service,
  site,
}) => {
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expect(page.getByText("No workers yet")).toBeVisible();
  await page.getByRole("link", { name: "New worker" }).first().click();
  await page.getByLabel("Queue", { exact: true }).fill("high,default");
  await page.getByLabel("Processes", { exact: true }).fill("2");
  await page.getByRole("button", { name: "Create worker" }).click();

  await expectToast(page, "status", /Installing worker \d+/);
  await page.getByRole("link", { name: `${site.name} workers` }).click();
  const row = page.getByRole("row").filter({ hasText: "high,default" });
  await expectRow(row, "installed", "database", "2 of 2");
  const id = Number(await row.getByRole("link").first().textContent());
  const pids = async () =>
    ((await site.worker(id)).process_list ?? []).flatMap(({ pid }) => pid ?? []);
  const first = await pids();
  expect(first.every(isAlive)).toBe(true);

  await clickRowAction(page, id, "Stop");
  await expectRow(row, "stopped", "0 of 2");
  expect(first.some(isAlive)).toBe(false);

  await clickRowAction(page, id, "Start");
  await expectRow(row, "installed", "2 of 2");
  const second = await pids();
  expect(second.every(isAlive)).toBe(true);

  await clickRowAction(page, id, "Restart");
  await expectRow(row, "restarting");
  await expectRow(row, "installed");
  const third = await pids();
  expect(second.some(isAlive)).toBe(false);

  await clickRowAction(page, id, "Delete");
  const dialog = page.getByRole("alertdialog");
  await expect(dialog).toContainText("high,default");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Delete worker" }).click();
  await expect(row).toBeHidden();
  expect(third.some(isAlive)).toBe(false);
});

test("deleting is not done when the question is answered with no", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expectRow(workerRow(page, id), "installed");
  await clickRowAction(page, id, "Delete");
  const dialog = page.getByRole("alertdialog");
  await expect(dialog).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("button", { name: `Delete worker ${id}` })).toBeFocused();
  expect((await site.worker(id)).status).toBe("installed");
});

test("what a worker cannot do while it is installing is disabled and says why", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker({ startsecs: 60 });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  const stop = page.getByRole("button", { name: `Stop worker ${id}` });
  await expect(stop).toBeDisabled();
  await expect(stop).toHaveAccessibleDescription(/Can't stop while the status is installing/);
  await stop.click({ force: true });
  expect((await site.worker(id)).status).toBe("installing");
  await service.call("DELETE", `/api/worker/${id}`);
});

test("an action that the service refuses is taken back on screen and reported", async ({
  connected: page,
  service,
  site,
  expected,
}) => {
  expected.push(/409 \(Conflict\)/);
  // It takes a while to go, so that the page still shows it as it was.
  await site.artisan("trap '' TERM; sleep 300");
  const { id } = await site.createWorker({ stopwaitsecs: 4 });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expectRow(workerRow(page, id), "installed");
  await service.call("DELETE", `/api/worker/${id}`);
  await clickRowAction(page, id, "Restart");
  await expectToast(page, "alert", `Couldn't restart worker ${id}.`);
  await expect(page.getByRole("button", { name: `Restart worker ${id}` })).toBeFocused();
  await expectRow(workerRow(page, id), "removing");
});

test("a worker that cannot run is failed, with the reason and the end of its log", async ({
  connected: page,
  service,
  site,
}) => {
  await site.artisan("echo 'no connection to redis'; exit 1");
  const { id } = await site.createWorker({ startsecs: 1, startretries: 0 });
  await page.goto(`${service.url}/workers/${id}`);
  await expect(page.getByText("failed", { exact: true })).toBeVisible();
  const main = page.getByRole("main");
  await expect(main).toContainText("code 1");
  await expect(main).toContainText("no connection to redis");
  await expectAccessible(page);
});

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
    await expect((await opened).getByText("# Workers")).toBeVisible();
  });

  test("shows the command as it is filled in, and warns without blocking", async ({
    connected: page,
    service,
    site,
  }) => {
    await page.goto(`${service.url}/sites/${site.id}/workers/new`);
    const main = page.getByRole("main");
    await expect(main).toContainText("sh artisan queue:work database --queue=default");
    await page.getByLabel("Connection", { exact: true }).fill("redis");
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

  test("puts what only the service can know at its field too", async ({
    connected: page,
    service,
    site,
    expected,
  }) => {
    expected.push(/422/);
    await page.goto(`${service.url}/sites/${site.id}/workers/new`);
    await page.getByLabel("Directory", { exact: true }).fill("../..");
    await page.getByRole("button", { name: "Create worker" }).click();
    await expect(page.getByLabel("Directory", { exact: true })).toHaveAccessibleDescription(
      /inside the site's folder/,
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

test.describe("the list", () => {
  test("is paged, and the page is in the address", async ({ connected: page, service, site }) => {
    for (let count = 0; count < 21; count++)
      await service.call("DELETE", `/api/worker/${(await site.createWorker()).id}/stop`);
    await page.goto(`${service.url}/sites/${site.id}/workers`);
    await expect(page.getByRole("row")).toHaveCount(21);
    await page.getByRole("link", { name: /next/i }).click();
    await expect(page).toHaveURL(/page=2/);
    await expect(page.getByRole("row")).toHaveCount(2);
    await page.reload();
    await expect(page.getByRole("row")).toHaveCount(2);
    await page.goBack();
    await expect(page.getByRole("row")).toHaveCount(21);
  });

  test("a poll neither takes the focus nor closes a question", async ({
    connected: page,
    service,
    site,
  }) => {
    await page.clock.install();
    const one = await site.createWorker();
    const two = await site.createWorker();
    await page.goto(`${service.url}/sites/${site.id}/workers`);
    await expectRow(workerRow(page, two.id), "installed");
    await clickRowAction(page, one.id, "Delete");
    await service.call("PUT", `/api/worker/${two.id}/restart`);
    const polled = async () => {
      const answered = page.waitForResponse((response) =>
        response.url().includes(`/site/${site.id}/workers`),
      );
      await page.clock.runFor(listPollMs);
      await answered;
    };
    await polled();
    await polled();
    await expect(page.getByRole("alertdialog")).toBeVisible();
    await page.getByRole("button", { name: "Cancel" }).click();
    const stop = page.getByRole("button", { name: `Stop worker ${one.id}` });
    await stop.focus();
    await service.call("PUT", `/api/worker/${two.id}/restart`);
    await polled();
    await expect(stop).toBeFocused();
  });

  test("sees what others change, without a reload", async ({ connected: page, service, site }) => {
    await page.clock.install();
    const { id } = await site.createWorker();
    await page.goto(`${service.url}/sites/${site.id}/workers`);
    await expectRow(workerRow(page, id), "installed");
    await service.call("DELETE", `/api/worker/${id}/stop`);
    await page.clock.runFor(listPollMs);
    await expectRow(workerRow(page, id), "stopped");
  });
});

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
    const log = page.getByRole("log", { name: `Log of worker ${id}` });
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

  test("shows a process that died and came back", async ({ connected: page, service, site }) => {
    const { id } = await site.createWorker();
    await page.goto(`${service.url}/workers/${id}`);
    await expect(page.getByRole("cell", { name: "running" })).toBeVisible();
    const [before] = (await site.worker(id)).process_list ?? [];
    process.kill(before?.pid ?? 0, "SIGKILL");
    await expect(page.getByRole("cell", { name: String(before?.pid), exact: true })).toBeHidden({
      timeout: 15_000,
    });
    await expect(page.getByRole("cell", { name: "1", exact: true }).last()).toBeVisible();
    await expect(page.getByRole("cell", { name: "running" })).toBeVisible();
  });

  test("deleting from there leads back to the list", async ({ connected: page, service, site }) => {
    const { id } = await site.createWorker();
    await page.goto(`${service.url}/workers/${id}`);
    await page.getByRole("button", { name: `Delete worker ${id}` }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete worker" }).click();
    await expectToast(page, "status", `Deleting worker ${id}.`);
    await expect(page).toHaveURL(`${service.url}/sites/${site.id}/workers`);
  });
});

test("everything works by keyboard alone", async ({ connected: page, service, site }) => {
  const { id } = await site.createWorker();
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expectRow(workerRow(page, id), "installed");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.keyboard.press("Enter");
  const stop = page.getByRole("button", { name: `Stop worker ${id}` });
  for (let count = 0; count < 12; count++) {
    await page.keyboard.press("Tab");
    if (await stop.evaluate((element) => element === document.activeElement)) break;
  }
  await expect(stop).toBeFocused();
  await page.keyboard.press("Enter");
  await expectRow(workerRow(page, id), "stopped");
  await expect(stop).toBeFocused();
});

test("every page is accessible and fits 360 px, light and dark", async ({
  connected: page,
  service,
  site,
}) => {
  // Many pages, and axe takes its time with each.
  test.slow();
  await page.setViewportSize({ width: 360, height: 740 });
  const { id } = await site.createWorker({
    processes: 2,
    queue: "a-rather-long-queue-name,default",
  });
  for (const path of [
    "/",
    `/sites/${site.id}/workers`,
    `/sites/${site.id}/workers/new`,
    `/workers/${id}`,
    "/connect",
  ]) {
    await page.goto(service.url + path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBoth(page);
  }
});
