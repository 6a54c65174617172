// What a worker's status alone does not say: a crash loop, a failure in part, the release that its processes run.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "./fixtures.ts";
import { expectAccessible, expectNoSidewaysScroll, workerRow } from "./helpers.ts";

// Real processes have to end, or to stay up, several times.
test.describe.configure({ timeout: 120_000 });

/** A page on which no state is in transit is asked for every few seconds. */
const soon = { timeout: 30_000 };

/** The number of the process, from the mark that it bears. */
const number = "n=${QUARTERDECK_WORKER%/*}; n=${n##*/}";

test("a worker that exits with 0 again and again is crash-looping, on its list, its page and the start page", async ({
  connected: page,
  service,
  site,
}) => {
  await site.artisan("sleep 0.1; exit 0");
  const { id } = await site.createWorker();
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  const row = workerRow(page, id);
  await expect(row).toContainText("crash-looping", soon);
  await expect(row).toContainText("Process 1 exited at least 5 times in 10 minutes.");
  await expectNoSidewaysScroll(page);
  await page.goto(`${service.url}/workers/${id}`);
  const main = page.getByRole("main");
  await expect(main.getByText("crash-looping", { exact: true })).toBeVisible(soon);
  await expect(main).toContainText("clears after 10 minutes without a crash");
  await expectAccessible(page);
  // Listed one by one: on the start page several of a kind are one line.
  await page.goto(`${service.url}/?show=down`);
  const problem = main.getByRole("listitem").filter({ hasText: site.name });
  await expect(problem).toContainText("Worker default on database is crash-looping", soon);

  await service.call("DELETE", `/api/worker/${id}/stop`);
  await page.goto(`${service.url}/workers/${id}`);
  await expect(main.getByText("stopped", { exact: true }).first()).toBeVisible(soon);
  await expect(main.getByText("crash-looping")).toBeHidden(soon);
});

test("a worker of which one process was given up says how many are up, and a deployment how many run it", async ({
  connected: page,
  service,
  site,
}) => {
  // Process 4 fails until there is a file; the others end late when they are told to.
  await site.artisan(
    `${number}; [ $n = 4 ] && [ ! -e good ] && exit 1; trap 'while [ -e wait-$n ]; do sleep 0.05; done; exit 0' TERM; while :; do sleep 0.05; done`,
  );
  const { id, directory } = await site.createWorker({
    processes: 4,
    startsecs: 1,
    startretries: 0,
  });
  await page.goto(`${service.url}/workers/${id}`);
  const main = page.getByRole("main");
  await expect(main.getByText("3 of 4 up", { exact: true })).toBeVisible(soon);
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  await expect(workerRow(page, id)).toContainText("3 of 4 up", soon);
  await expectNoSidewaysScroll(page);

  await writeFile(join(directory, "good"), "");
  await writeFile(join(directory, "wait-2"), "");
  await service.call("POST", `/api/site/${site.id}/deployment`, {
    status: "finished",
    restart_workers: true,
  });
  await page.goto(`${service.url}/workers/${id}`);
  await expect(main.getByText("3 of 4 on the new release", { exact: true })).toBeVisible(soon);
  await expect(main.getByText("older release")).toHaveCount(1, soon);
  await expectAccessible(page);
  await rm(join(directory, "wait-2"));
  await expect(main.getByText("installed", { exact: true })).toBeVisible(soon);
  await expect(main.getByText("on the new release")).toBeHidden(soon);
});
