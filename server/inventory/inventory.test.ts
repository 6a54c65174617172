import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Page } from "../../contract/paging.ts";
import type { Site } from "../../contract/servers.ts";
import { createApp } from "../app.ts";
import { createTestService, oneSite, type TestService } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { parseInventory } from "./file.ts";
import { writeSample } from "./sample.ts";
import { ownUser } from "../testing/own-user.ts";
import { soon } from "../testing/soon.ts";

let service: TestService;
beforeEach(async () => {
  service = await createTestService();
});
afterEach(() => service.close());

const siteNames = async () =>
  (await service.json<Page<Site>>("GET", "/api/server/1/sites")).body.data.map(({ name }) => name);
const expectSites = (names: string[]) => soon(async () => expect(await siteNames()).toEqual(names));
const write = (text: string) => writeFile(service.inventoryFile, text);
const withBlog = () =>
  `${oneSite(service.folder)}  - { id: 2, server: 1, name: blog, root: ${service.folder}/shop, user: ${ownUser} }\n`;

test("a change of the file is in force at once", async () => {
  await write(withBlog());
  await expectSites(["shop", "blog"]);
  await write(oneSite(service.folder));
  await expectSites(["shop"]);
});

test("reads a file that an editor puts in the place of the old one, too", async () => {
  await writeFile(`${service.inventoryFile}.new`, withBlog());
  await rename(`${service.inventoryFile}.new`, service.inventoryFile);
  await expectSites(["shop", "blog"]);
});

test("does not write unchanged entries again", async () => {
  const places = () => service.query("select id, ctid from sites where id = 1");
  const before = await places();
  await write(withBlog());
  await expectSites(["shop", "blog"]);
  expect(await places()).toEqual(before);
});

test("an error leaves everything unchanged, until the file is valid again", async () => {
  await write(withBlog().replace("id: 2", "id: 1"));
  await write("servers: [");
  await write(withBlog().replace("blog", "news"));
  await expectSites(["shop", "news"]);
});

test("a reading that the database refuses is retried", async () => {
  await service.query("alter table servers rename to away");
  await write(withBlog());
  await soon(() => expect(service.app.inventoryProblem()).not.toBeNull());
  await service.query("alter table away rename to servers");
  await write(withBlog().replace("blog", "news"));
  await expectSites(["shop", "news"]);
});

test("a start without the file keeps the stored entries, and creates no sample", async () => {
  await service.app.close("stop");
  await rename(service.inventoryFile, `${service.inventoryFile}.away`);
  service.app = await createApp(service.options);
  expect(await siteNames()).toEqual(["shop"]);
  expect(await readdir(service.folder)).not.toContain("inventory.yaml");
  expect(service.app.inventoryProblem()).toBe(
    `${service.inventoryFile} cannot be used:\n  There is no such file. Put it back, or set QUARTERDECK_INVENTORY to where it is.`,
  );
  await rename(`${service.inventoryFile}.away`, service.inventoryFile);
  await soon(() => expect(service.app.inventoryProblem()).toBeNull());
});

test("a site with workers cannot be removed, and the rest of that change waits, too", async () => {
  await service.call("POST", "/api/site/1/worker", workerBody);
  await write(withBlog().replace("id: 1, server: 1, name: shop", "id: 3, server: 1, name: other"));
  await soon(() => expect(service.app.inventoryProblem()).toContain("workers: 1"));
  expect(await siteNames()).toEqual(["shop"]);
  await service.call("DELETE", "/api/worker/1");
  await soon(async () => {
    expect((await service.call("GET", "/api/worker/1")).status).toBe(404);
  });
  await write(withBlog().replace("id: 1, server: 1, name: shop", "id: 4, server: 1, name: other"));
  await expectSites(["blog", "other"]);
});

test("the supervisor of a server changes only while its workers are stopped", async () => {
  await service.call("POST", "/api/site/1/worker", workerBody);
  const other = () =>
    oneSite(service.folder).replace(
      "connection: local",
      "connection: local, supervisor: supervisord, supervisord_config: /nowhere",
    );
  await write(other());
  await soon(() =>
    expect(service.app.inventoryProblem()).toContain("while these workers are not stopped: 1"),
  );
  const status = async () =>
    (await service.json<{ status: string }>("GET", "/api/worker/1")).body.status;
  await soon(async () => expect(await status()).toBe("installed"));
  await service.call("DELETE", "/api/worker/1/stop");
  await soon(async () => expect(await status()).toBe("stopped"));
  await write(`${other()}\n`);
  await soon(() => expect(service.app.inventoryProblem()).toBeNull());
  const { status: code, body } = await service.json<{ message: string }>(
    "POST",
    "/api/site/1/worker",
    workerBody,
  );
  expect([code, body.message]).toEqual([
    409,
    "/nowhere is not on this server. The inventory names it as the configuration of supervisord.",
  ]);
});

test("the sample of a first start is a valid inventory, and its worker works", async () => {
  // As when the data folder is inside the project, which uses ES modules.
  await writeFile(join(service.folder, "package.json"), '{ "type": "module" }');
  const file = join(service.folder, "sample.yaml");
  await writeSample(file, service.folder);
  const sample = parseInventory(await readFile(file, "utf8"), file);
  expect(sample.sites[0]).toMatchObject({ name: "sample", artisan: "node artisan" });
  await write(await readFile(file, "utf8"));
  await expectSites(["sample"]);
  await service.call("POST", "/api/site/1/worker", { ...workerBody, max_jobs: 2, sleep: 0 });
  await soon(async () => {
    const { body } = await service.json<{ text: string }>("GET", "/api/worker/1/log");
    expect(body.text).toContain("default-0002.json Send the welcome mail 2 DONE");
  });
});
