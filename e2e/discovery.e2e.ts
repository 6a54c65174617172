// Tests discovery: from a server to a first finished backup of something found on it.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ownUser } from "../server/testing/own-user.ts";
import { startSupervisord } from "../server/workers/supervisord/testing/supervisord.ts";
import { laravelMissing, makeLaravelSite } from "../server/workers/testing/laravel-site.ts";
import { expect, test } from "./fixtures.ts";
import { expectAccessibleInBoth, expectAccessible, expectNoSidewaysScroll } from "./helpers.ts";

test("adds a discovered site, and backs up its database, in a few clicks", async ({
  connected: page,
  service,
  site,
}) => {
  // Creates a site next to one that the inventory has.
  const root = join(service.folder, "found.example.com");
  await mkdir(join(root, "database"), { recursive: true });
  await writeFile(join(root, "artisan"), "#!/usr/bin/env php\n");
  const database = new DatabaseSync(join(root, "database/database.sqlite"));
  database.exec("create table orders (id integer primary key)");
  database.close();

  await page.goto(`${service.url}/servers/1`);
  await page.getByRole("button", { name: "Scan this server" }).click();
  const sites = page.getByRole("list", { name: "Sites found" });
  const known = sites.getByRole("listitem").filter({ hasText: site.name });
  await expect(known).toContainText("In the inventory");
  await expect(sites).toContainText(root);
  await expectAccessible(page);

  const files = page.getByRole("list", { name: "SQLite files found" });
  const file = files.getByRole("listitem").filter({ hasText: root });
  await file.getByRole("button", { name: "Add found.example.com" }).click();
  const setUp = file.getByRole("link", { name: "Set up backup: found.example.com" });
  // The focus moves to the button that took the place of the removed one.
  await expect(setUp).toBeFocused();
  await setUp.click();
  // Other tests on the same service may have added storages.
  await page.getByLabel("Storage").selectOption("1");
  await page.getByRole("button", { name: "Create backup" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("found.example.com");
  await page.getByRole("button", { name: "Run now" }).click();
  await expect(page.getByText("finished", { exact: true }).first()).toBeVisible();

  // The file has only the chosen entries added; its comments and order are unchanged.
  const inventory = await service.call("GET", "/api/inventory");
  const { databases, sites: entries } = await inventory.json();
  expect(databases).toContainEqual(
    expect.objectContaining({ name: "found.example.com", engine: "sqlite" }),
  );
  expect(entries).not.toContainEqual(expect.objectContaining({ root }));

  // Other tests write an inventory without this database, which is refused while something uses it.
  const configuration = page.url().split("/").at(-1);
  // A page that still polls it would get a 404.
  await page.goto("about:blank");
  await service.call("DELETE", `/api/backup-configuration/${configuration}`);
  await expect
    .poll(
      async () => (await service.call("GET", `/api/backup-configuration/${configuration}`)).status,
    )
    .toBe(404);
});

test("does not offer the scan to a read-only token @long", async ({ page, service }) => {
  const { token } = await (
    await service.call("POST", "/api/tokens", { name: "reader", abilities: ["read"] })
  ).json();
  await page.goto(`${service.url}/#token=${token}`);
  await page.getByRole("link", { name: "web-1" }).first().waitFor();
  await page.goto(`${service.url}/servers/1`);
  await expect(page.getByRole("heading", { name: "Connection" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Scan this server" })).toBeHidden();
});

test("takes over a program of supervisord, which then does its jobs as a worker @long", async ({
  connected: page,
  service,
  expected,
}) => {
  test.skip(laravelMissing !== null, laravelMissing ?? "");
  test.setTimeout(120_000);
  expected.push(/422 \(Unprocessable/);
  const supervisord = await startSupervisord();
  const id = service.nextSiteId();
  const laravel = await makeLaravelSite(join(service.folder, `laravel-${id}`));
  const before = "{ id: 1, name: web-1, connection: local, time_zone: UTC }";
  const changeServer = (from: string, to: string) =>
    service.changeInventory(({ servers, sites }) => {
      servers.splice(servers.indexOf(from), 1, to);
      if (from === before)
        sites.push(
          `{ id: ${id}, server: 1, name: laravel-${id}.example.com, root: ${laravel.folder}, user: ${ownUser} }`,
        );
    });
  const withConfig = before.replace(" }", `, supervisord_config: ${supervisord.config} }`);
  try {
    await changeServer(before, withConfig);
    await expect.poll(async () => (await service.call("GET", `/api/site/${id}`)).status).toBe(200);
    const program = [
      "[program:laravel-queue]",
      `command=php ${laravel.folder}/artisan queue:work --sleep=1 --tries=1`,
      `environment=APP_ENV="local"`,
      "stopwaitsecs=90",
      "autorestart=true",
      "[group:all]",
      "programs=laravel-mail",
      "[program:laravel-mail]",
      `command=php ${laravel.folder}/artisan queue:work database --queue=mail`,
    ];
    await writeFile(join(supervisord.programs, "laravel.conf"), `${program.join("\n")}\n`);
    await supervisord.call("reloadConfig");
    for (const group of ["laravel-queue", "all"]) await supervisord.call("addProcessGroup", group);
    const names = await laravel.dispatch(3, 0.2);

    await page.goto(`${service.url}/servers/1`);
    const look = page.getByRole("button", { name: "Scan this server" });
    await look.click();
    const found = page.getByRole("list", { name: "Queue workers found" }).getByRole("listitem");
    // A single process of a group must not be stopped.
    const grouped = found.filter({ hasText: "laravel-mail" });
    await expect(grouped).toContainText("It is part of supervisord's group all.");
    await expect(grouped.getByRole("link", { name: "Create worker: laravel-mail" })).toBeVisible();
    await expect(grouped.getByRole("button")).toHaveCount(0);

    await expect(found.first()).toContainText("1 running");
    await found.getByRole("button", { name: "Take over: laravel-queue" }).click();
    const dialog = page.getByRole("dialog", { name: "Take over laravel-queue?" });
    await expect(dialog).toContainText("The worker does not have its variables APP_ENV");
    await expectAccessibleInBoth(page);
    await expectNoSidewaysScroll(page);
    await dialog.getByRole("button", { name: "Take over" }).click();
    await expect(dialog.getByLabel("Connection")).toHaveAccessibleDescription(
      /Connection is required/,
    );
    await expect(dialog.getByLabel("Connection")).toBeFocused();
    await dialog.getByLabel("Connection").fill("database");
    await dialog.getByLabel("Queue", { exact: true }).fill("default");
    await dialog.getByLabel("Queue", { exact: true }).press("Enter");

    await expect(page.getByText("Took over laravel-queue.")).toBeVisible({ timeout: 60_000 });
    await expect(page.getByText("installed", { exact: true }).first()).toBeVisible();
    await expectAccessibleInBoth(page);
    const states = await supervisord.call("getAllProcessInfo");
    expect(states).toContainEqual(
      expect.objectContaining({ group: "laravel-queue", statename: "STOPPED" }),
    );
    await expect(page.getByRole("figure", { name: "Commands" })).toContainText(
      `supervisorctl -c ${supervisord.config} remove laravel-queue`,
    );
    names.push(...(await laravel.dispatch(2, 0)));
    await expect.poll(async () => (await laravel.done()).toSorted()).toEqual(names.toSorted());

    // When found again, the program is listed with its worker.
    const worker = page.url().split("/").at(-1);
    await page.goto(`${service.url}/servers/1`);
    await look.click();
    await expect(found.first()).toContainText(`Taken over by worker ${worker}.`);
    await found
      .first()
      .getByRole("link", { name: `Worker ${worker}` })
      .click();
    await expect(page.getByText("Took over laravel-queue.")).toBeVisible();

    // Its page would request it once more.
    await page.goto(`${service.url}/servers/1`);
    await service.call("DELETE", `/api/worker/${worker}`);
    await expect
      .poll(async () => (await service.call("GET", `/api/worker/${worker}`)).status)
      .toBe(404);
  } finally {
    await changeServer(withConfig, before);
    await service.changeInventory((inventory) => {
      inventory.sites = inventory.sites.filter((line) => !line.startsWith(`{ id: ${id},`));
    });
    await supervisord.close();
  }
});
