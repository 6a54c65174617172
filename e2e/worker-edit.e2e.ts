// Tests editing and duplicating a worker.
import { expect, test } from "./fixtures.ts";
import {
  connectAs,
  createReadingToken,
  expectAccessible,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
  ofWorker,
  openWithin,
  workerRow,
} from "./helpers.ts";

test.describe.configure({ timeout: 120_000 });

/** Allows for the slower polling of a page with nothing in transit. */
const soon = { timeout: 30_000 };

test("a change replaces the processes and is shown, from the list to the worker's page", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker({ processes: 2 });
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expectRow(workerRow(page, id), "installed");
  const before = (await site.worker(id)).process_list?.map(({ pid }) => pid);
  await page.getByRole("link", { name: ofWorker(id, "Edit") }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Edit default on database");
  await expect(page.getByLabel("Queue", { exact: true })).toHaveValue("default");
  await expectAccessible(page);
  await page.getByLabel("Queue", { exact: true }).fill("high");
  await page.getByText("Advanced", { exact: true }).click();
  await page.getByLabel("Memory", { exact: true }).fill("256");
  await page.getByRole("button", { name: "Save changes" }).click();
  await expectToast(page, "status", /Changing high on database/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("high on database");
  await expect(page.getByText("installed", { exact: true })).toBeVisible(soon);
  const after = await site.worker(id);
  expect(after).toMatchObject({ queue: "high", memory: 256, is_changing: false });
  expect(after.process_list?.filter(({ pid }) => before?.includes(pid))).toEqual([]);
  await openWithin(page, `/activity?site=${site.id}`);
  await expect(page.getByText("queue default → high, memory 128 → 256")).toBeVisible();
});

test("the form of another worker has that worker's settings", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker({ queue: "mail" });
  const { id: otherId } = await site.createWorker({ queue: "reports" });
  const queue = page.getByLabel("Queue", { exact: true });
  await page.goto(`${service.url}/workers/${id}/edit`);
  await expect(queue).toHaveValue("mail");
  await openWithin(page, `/workers/${otherId}/edit`);
  await expect(queue).toHaveValue("reports");
});

test("reverts a change that cannot start, and shows this and why on the worker's page @long", async ({
  connected: page,
  service,
  site,
}) => {
  await site.artisan(
    `case "$3" in *bad*) echo "no queue of that name"; exit 1;; esac; exec sleep 300`,
  );
  const { id } = await site.createWorker({ startsecs: 1 });
  await expect.poll(async () => (await site.worker(id)).status).toBe("installed");
  await page.goto(`${service.url}/workers/${id}/edit`);
  await page.getByLabel("Queue", { exact: true }).fill("bad");
  await page.getByRole("button", { name: "Save changes" }).click();
  // The text in the log; the reason, which may contain it, too, is collapsed.
  const said = page.getByText("no queue of that name").filter({ visible: true });
  await expect(said.first()).toBeVisible(soon);
  const main = page.getByRole("main");
  await expect(main).toContainText("The change was undone. Process 1:", soon);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("default on database", soon);
  await expect(main.getByText("installed", { exact: true })).toBeVisible(soon);
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await openWithin(page, `/sites/${site.id}/workers`);
  await expect(workerRow(page, id)).toContainText("The change was undone.");
});

test("shows an invalid field, changes nothing, and does not discard input without a confirmation @long", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker();
  await expect.poll(async () => (await site.worker(id)).status).toBe("installed");
  await page.goto(`${service.url}/workers/${id}/edit`);
  await page.getByLabel("Processes", { exact: true }).fill("65");
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("Processes must not be greater than 64.")).toBeVisible();
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Keep editing" }).click();
  await expect(page.getByLabel("Processes", { exact: true })).toHaveValue("65");
  expect(await site.worker(id)).toMatchObject({ processes: 1, status: "installed" });
});

test("a worker cannot be edited while it is installing, and the button says why @long", async ({
  connected: page,
  service,
  site,
  expected,
}) => {
  expected.push(/409 \(Conflict\)/);
  const { id } = await site.createWorker({ startsecs: 60 });
  await page.goto(`${service.url}/workers/${id}`);
  const edit = page.getByRole("button", { name: ofWorker(id, "Edit") });
  await expect(edit).toBeDisabled();
  await expect(edit).toHaveAccessibleDescription("Can't edit while the status is installing.");
  await page.goto(`${service.url}/workers/${id}/edit`);
  await page.getByLabel("Queue", { exact: true }).fill("high");
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(
    page.getByText("The worker is installing. Try again once that is done."),
  ).toBeInViewport();
});

test("a duplicate is a new worker with the same settings", async ({
  connected: page,
  service,
  site,
}) => {
  const { id } = await site.createWorker({ queue: "mail", connection: "redis", tries: 5 });
  await page.goto(`${service.url}/workers/${id}`);
  await page.getByRole("link", { name: ofWorker(id, "Duplicate") }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Duplicate mail on redis");
  await expect(page.getByRole("form")).toContainText("5 tries");
  await page.getByLabel("Queue", { exact: true }).fill("reports");
  await page.getByRole("button", { name: "Create worker" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("reports on redis");
  const [made] = (await (await service.call("GET", `/api/site/${site.id}/workers`)).json()).data;
  expect(made).toMatchObject({ queue: "reports", connection: "redis", tries: 5 });
});

test("offers no change to a read-only token @long", async ({ page, service, site }) => {
  const { id } = await site.createWorker();
  await connectAs(page, service.url, await createReadingToken(service));
  await page.goto(`${service.url}/workers/${id}`);
  await expect(page.getByRole("button", { name: ofWorker(id, "Restart") })).toBeDisabled();
  await expect(page.getByRole("link", { name: ofWorker(id, "Edit") })).toBeDisabled();
});
