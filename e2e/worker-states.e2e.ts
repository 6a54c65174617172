// Tests what a worker's status alone does not show: a crash loop, a partial failure, the release that its processes run.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Worker } from "../contract/workers/worker.ts";
import { patientArtisan } from "../server/testing/artisan.ts";
import { ownUser } from "../server/testing/own-user.ts";
import { sendSignal } from "../server/testing/signals.ts";
import { workerBody } from "../server/testing/worker-body.ts";
import { startSupervisord } from "../server/workers/supervisord/testing/supervisord.ts";
import { expect, test } from "./fixtures.ts";
import {
  expectAccessible,
  expectNoSidewaysScroll,
  expectToast,
  ofWorker,
  openWithin,
  workerRow,
} from "./helpers.ts";

// Real processes have to exit or to stay up several times.
test.describe.configure({ timeout: 120_000 });

/** Allows for the slower polling of a page with no state in transit. */
const soon = { timeout: 30_000 };

/** Shell code that sets `n` to the number of the process, from its mark. */
const number = "n=${QUARTERDECK_WORKER%/*}; n=${n##*/}";

test("a worker that repeatedly exits with 0 is crash-looping, on its list, its page and the overview", async ({
  connected: page,
  service,
  site,
}) => {
  await site.artisan("sleep 0.1; exit 0");
  const { id } = await site.createWorker();
  await expect.poll(async () => (await site.worker(id)).crash_loop, soon).toBeTruthy();
  await page.goto(`${service.url}/sites/${site.id}/workers`);
  const row = workerRow(page, id);
  await expect(row).toContainText("crash-looping");
  await expect(row).toContainText("Process 1 exited at least 5 times in 10 minutes.");
  await expectNoSidewaysScroll(page);
  // This list shows each problem; the start page groups several of a kind.
  await openWithin(page, "/?show=down");
  const main = page.getByRole("main");
  const problem = main.getByRole("listitem").filter({ hasText: site.name });
  await expect(problem).toContainText("Worker default on database is crash-looping");
  await problem.getByRole("link", { name: /^View: Worker default/ }).click();
  await expect(main.getByText("crash-looping", { exact: true })).toBeVisible();
  await expect(main).toContainText(
    "clears after 10 minutes without a crash, or when the worker is restarted.",
  );
  await expectAccessible(page);

  await page.getByRole("button", { name: ofWorker(id, "Stop") }).click();
  await expect(main.getByText("stopped", { exact: true }).first()).toBeVisible(soon);
  await expect(main.getByText("crash-looping")).toBeHidden(soon);
});

test("shows how many processes are up after one has failed, and how many run a new deployment @long", async ({
  connected: page,
  service,
  site,
}) => {
  // Process 4 fails until the file `good` exists; the others delay their exit at SIGTERM.
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
  await openWithin(page, `/sites/${site.id}/workers`);
  await expect(workerRow(page, id)).toContainText("3 of 4 up", soon);
  await expectNoSidewaysScroll(page);

  await writeFile(join(directory, "good"), "");
  await writeFile(join(directory, "wait-2"), "");
  await service.call("POST", `/api/site/${site.id}/deployment`, {
    status: "finished",
    restart_workers: true,
  });
  await openWithin(page, `/workers/${id}`);
  await expect(main.getByText("3 of 4 on the new release", { exact: true })).toBeVisible(soon);
  await expect(main.getByText("older release")).toHaveCount(1, soon);
  await expectAccessible(page);
  await rm(join(directory, "wait-2"));
  await expect(main.getByText("installed", { exact: true })).toBeVisible(soon);
  await expect(main.getByText("on the new release")).toBeHidden(soon);
});

test("shows an order that waits for an unavailable server, and withdraws it @long", async ({
  connected: page,
  service,
}) => {
  const supervisord = await startSupervisord();
  try {
    const id = service.nextSiteId();
    const root = join(service.folder, `away-${id}`);
    await mkdir(root);
    await writeFile(join(root, "artisan"), patientArtisan);
    await service.changeInventory(({ servers, sites }) => {
      servers.push(
        `{ id: ${id + 2000}, name: away-${id}, connection: local, supervisor: supervisord, supervisord_config: ${supervisord.config} }`,
      );
      sites.push(
        `{ id: ${id}, server: ${id + 2000}, name: away-${id}.example.com, root: ${root}, user: ${ownUser}, artisan: [sh, artisan] }`,
      );
    });
    await expect.poll(async () => (await service.call("GET", `/api/site/${id}`)).status).toBe(200);
    const body = { ...workerBody, startsecs: 1, startretries: 50 };
    const created = await service.call("POST", `/api/site/${id}/worker`, body);
    const worker: Worker = await created.json();
    await page.goto(`${service.url}/workers/${worker.id}`);
    const main = page.getByRole("main");
    await expect(main.getByText("installed", { exact: true })).toBeVisible(soon);

    await supervisord.stop();
    await expect(main.getByText("Last known: installed", { exact: true })).toBeVisible(soon);
    await expect(main).toContainText("Start it on the server: systemctl start supervisor");
    const withdraw = main.getByRole("button", { name: /^Withdraw/ });
    await expect(withdraw).toBeHidden();
    await main.getByRole("button", { name: "Stop" }).click();
    const waits = main.getByText("Last known: installed, stopping once it is back");
    await expect(waits).toBeVisible(soon);
    await expect(withdraw).toHaveAccessibleName(/^Withdraw stop of /);
    await expectAccessible(page);
    await withdraw.click();
    await expectToast(page, "status", /^Withdrew the stop of /);
    await expect(withdraw).toBeHidden();
    await expect(main.getByText("Last known: installed", { exact: true })).toBeVisible();

    // The workers start again with supervisord.
    await supervisord.start();
    await expect(main.getByText("installed", { exact: true })).toBeVisible(soon);

    // An order for a worker that is already in transit to the same state is kept, too.
    await writeFile(join(root, "artisan"), "exit 1\n");
    const shown: Worker = await (await service.call("GET", `/api/worker/${worker.id}`)).json();
    for (const { pid } of shown.process_list ?? []) if (pid !== null) sendSignal(pid, "SIGKILL");
    await expect(main.getByText("restarting", { exact: true })).toBeVisible(soon);
    sendSignal(supervisord.pid(), "SIGSTOP");
    await expect(main.getByText("Last known: restarting", { exact: true })).toBeVisible(soon);
    await main.getByRole("button", { name: "Restart" }).click();
    await expect(main.getByText("restarting again once it is back")).toBeVisible(soon);
    await withdraw.click();
    await expectToast(page, "status", /^Withdrew the restart of /);
    await expect(withdraw).toBeHidden();
    sendSignal(supervisord.pid(), "SIGCONT");

    // An open page would request the deleted worker.
    await page.goto(`${service.url}/sites/${id}/workers`);
    await service.call("DELETE", `/api/worker/${worker.id}`);
    await expect
      .poll(async () => (await service.call("GET", `/api/worker/${worker.id}`)).status, soon)
      .toBe(404);
  } finally {
    await supervisord.close();
  }
});
