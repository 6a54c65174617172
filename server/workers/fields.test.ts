// Validation of a worker's fields, and paging of lists.
import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "../../contract/paging.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { eachMachine, knowsAccount } from "../ssh/testing/remote-server.ts";
import { createTestService, oneSite, type TestService } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";

let service: TestService;

const refused = async (change: object) => {
  const answer = await service.json<{ errors: Record<string, string[]> }>(
    "POST",
    "/api/site/1/worker",
    { ...workerBody, ...change },
  );
  expect(answer.status).toBe(422);
  const { body } = await service.json<Page<Worker>>("GET", "/api/site/1/workers");
  expect(body.meta.total).toBe(0);
  const folders = await readdir(join(service.folder, "workers"), { recursive: true });
  expect(folders.filter((name) => name !== "server-1")).toEqual([]);
  return answer.body.errors;
};

/** Directories are checked on the site's machine. */
describe.each(eachMachine())("of a directory on $machine", ({ connectionOf }) => {
  beforeAll(async () => {
    const connection = await connectionOf();
    service = await createTestService({
      inventory: (folder) =>
        oneSite(folder).replace("connection: local", `connection: ${connection}`),
    });
    await knowsAccount(service);
  });
  afterAll(() => service.close());

  test("refuses a directory outside of the site", async () => {
    for (const directory of ["..", "../..", "/etc", "/", "a/../../..", "/tmp/../etc"])
      expect(await refused({ directory }), directory).toEqual({
        directory: ["The directory field must lie inside the site's folder."],
      });
  });

  test("refuses a link that leads out of the site", async () => {
    await symlink("/etc", join(service.folder, "shop/link"));
    await mkdir(join(service.folder, "shop/inner"));
    await symlink("../..", join(service.folder, "shop/inner/up"));
    for (const directory of ["link", "inner/up", join(service.folder, "shop/link")])
      expect(Object.keys(await refused({ directory }))).toEqual(["directory"]);
  });

  test("refuses a directory that is missing or a file, with that reason", async () => {
    expect(await refused({ directory: "missing" })).toEqual({
      directory: ["The directory field is not there."],
    });
    expect(await refused({ directory: "artisan" })).toEqual({
      directory: ["The directory field must be a folder."],
    });
  });

  test("reports errors that only the disk reveals together with those of the schema", async () => {
    const { memory: _memory, ...rest } = workerBody;
    const { status, body } = await service.json("POST", "/api/site/1/worker", {
      ...rest,
      tries: "1",
      directory: "../..",
    });
    expect({ status, body }).toMatchObject({
      status: 422,
      body: {
        message: "The memory field is required. (and 2 more errors)",
        errors: {
          memory: ["The memory field is required."],
          tries: ["The tries field must be an integer."],
          directory: ["The directory field must lie inside the site's folder."],
        },
      },
    });
  });
});

describe("on any machine", () => {
  beforeAll(async () => {
    service = await createTestService();
  });
  afterAll(() => service.close());

  test.each([
    [{ queue: "x".repeat(65_536) }, "queue"],
    [{ queue: "a\nb" }, "queue"],
    [{ queue: `a"; touch /tmp/x; "` }, "queue"],
    [{ connection: "größe" }, "connection"],
    [{ processes: 65 }, "processes"],
    [{ memory: "128" }, "memory"],
  ])("%.40o", async (change, field) => {
    expect(Object.keys(await refused(change))).toEqual([field]);
  });
  test("lists are paged, newest first", async () => {
    for (let count = 0; count < 3; count++)
      await service.call("POST", "/api/site/1/worker", workerBody);
    const { body } = await service.json<Page<Worker>>(
      "GET",
      "/api/site/1/workers?per_page=2&page=2",
    );
    expect(body.data.map(({ id }) => id)).toEqual([1]);
    expect(body.meta).toMatchObject({ current_page: 2, last_page: 2, total: 3, from: 3, to: 3 });
  });
});
