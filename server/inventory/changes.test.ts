// Changes of the inventory file over HTTP, with a real file and a real database, and the messages of refusals.
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Activity } from "../../contract/activity.ts";
import type { InventoryConflict } from "../../contract/inventory/conflict.ts";
import type { InventoryFile } from "../../contract/inventory/inventory.ts";
import type { NewToken } from "../../contract/tokens.ts";
import { createLog } from "../log.ts";
import { oneOfMany } from "../testing/instance.ts";
import { ownUser } from "../testing/own-user.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { soon } from "../testing/soon.ts";

const secret = "postgres://shop:planted-typed-password@127.0.0.1:9/shop";

const inventory = (folder: string) => `# The inventory of tests.
servers:
  - { id: 1, name: here, connection: local } # this machine
sites:
  # The shop.
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }

databases:
  - id: 4
    server: 1
    name: orders   # of the shop
    engine: sqlite
    path: ${folder}/orders.sqlite
    user: ${ownUser}
`;

let service: TestService;
let log = "";
async function begin(options: Parameters<typeof createTestService>[0] = {}) {
  log = "";
  service = await createTestService({
    inventory,
    log: createLog("debug", { write: (line) => void (log += line) }),
    ...options,
  });
}

type Answer = {
  status: number;
  body: InventoryFile & InventoryConflict & { id: number; errors: unknown };
};

const show = async (): Promise<InventoryFile> =>
  (await service.json<InventoryFile>("GET", "/api/inventory")).body;
const text = () => readFile(service.inventoryFile, "utf8");
const secretNames = () => readdir(join(service.folder, "secrets")).catch((): string[] => []);
const send = async (
  method: "POST" | "PUT" | "DELETE",
  path: string,
  body?: object,
  version?: string | null,
): Promise<Answer> => {
  const seen = version === undefined ? (await show()).version : version;
  return service.json(method, `/api/inventory/${path}?version=${seen ?? ""}`, body);
};
/** Removes the changes of a test, so that several tests can share a service. */
async function putBack() {
  await writeFile(service.inventoryFile, inventory(service.folder));
  await rm(join(service.folder, "secrets"), { recursive: true, force: true });
}
const timeline = async () =>
  (await service.json<Activity>("GET", "/api/activity?kind=inventory")).body.data.map(
    ({ action, object, actor, detail }) => [action, object.type, object.name, actor.name, detail],
  );
const blog = (more: object = {}) => ({
  server: 1,
  name: "blog",
  root: `${service.folder}/shop`,
  user: ownUser,
  ...more,
});
const database = () => ({ server: 1, name: "shop", engine: "postgres", url: { secret } });

describe("a change", () => {
  beforeAll(() => begin());
  afterAll(() => service.close());
  afterEach(putBack);

  test("adds, changes and removes an entry, and leaves the rest of the file unchanged", async () => {
    const before = await text();
    const mode = (await stat(service.inventoryFile)).mode;
    const added = await send("POST", "sites", blog());
    expect(added).toMatchObject({ status: 201, body: { id: 2, problem: null } });
    expect(await text()).toBe(
      before.replace(
        "\n\ndatabases",
        `\n  - { id: 2, server: 1, name: blog, root: ${service.folder}/shop, user: ${ownUser} }\n\ndatabases`,
      ),
    );
    // The change is in force when the response arrives.
    expect((await service.call("GET", "/api/site/2")).status).toBe(200);

    const changed = await send(
      "PUT",
      "sites/2",
      blog({ name: "news", databases: [4] }),
      added.body.version,
    );
    expect(changed.status).toBe(200);
    expect(await text()).toContain(
      `name: news, root: ${service.folder}/shop, user: ${ownUser}, databases: [4] }`,
    );
    const removed = await send("DELETE", "sites/2", undefined, changed.body.version);
    expect(removed.status).toBe(200);
    expect(await text()).toBe(before);
    expect((await stat(service.inventoryFile)).mode).toBe(mode);
    expect((await service.call("GET", "/api/site/2")).status).toBe(404);
    expect(await timeline()).toEqual([
      ["removed", "site", "news", expect.any(String), null],
      ["changed", "site", "news", expect.any(String), "Fields: name, databases"],
      ["added", "site", "blog", expect.any(String), null],
    ]);
    // References to the deleted entry must not lead to the new one.
    expect((await send("POST", "sites", blog())).body.id).toBe(3);
  });

  test("accepts each kind of entry", async () => {
    await send("POST", "servers", { name: "second", connection: "local" });
    await send("POST", "storage-providers", { name: "disk", type: "local", path: "/copies" });
    await send("POST", "notification-channels", {
      name: "ops",
      type: "email",
      email: "a@example.com",
    });
    await send("POST", "databases", { server: 2, name: "shop", engine: "mysql", url: "env:SHOP" });
    expect(await show()).toMatchObject({
      problem: null,
      servers: [{ id: 1 }, { id: 2, name: "second" }],
      storage_providers: [{ id: 1, path: "/copies" }],
      notification_channels: [{ id: 1, email: "a@example.com" }],
      databases: [{ id: 4 }, { id: 5, url: "env:SHOP" }],
    });
    expect(service.app.inventoryProblem()).toBeNull();
  });
});

describe("an accepted change", () => {
  beforeAll(() => begin());
  afterAll(() => service.close());
  afterEach(putBack);

  test("keeps the comments inside a changed entry", async () => {
    const { databases } = await show();
    const entry = { ...databases[0], name: "sales" };
    expect((await send("PUT", "databases/4", entry)).status).toBe(200);
    expect(await text()).toContain("name: sales # of the shop\n    engine: sqlite");
  });

  describe("an entry in use is not removed", () => {
    test("while workers use it", async () => {
      await service.call("POST", "/api/site/1/worker", workerBody);
      expect(await send("DELETE", "sites/1")).toMatchObject({
        status: 409,
        body: {
          code: "inventory_in_use",
          message:
            "Couldn't remove site 1 (shop). Site 1 (shop) cannot be removed while it has workers: 1. Delete them first.",
        },
      });
      expect((await show()).sites).toHaveLength(1);
    });
  });

  describe("concurrent changes", () => {
    test("the second of two changes gets a diff of the first one", async () => {
      const { version } = await show();
      const first = await send("POST", "sites", blog(), version);
      const second = await send("POST", "sites", blog({ name: "forum" }), version);
      expect(second).toMatchObject({ status: 409, body: { code: "inventory_changed" } });
      expect(second.body.diff).toContain(`+  - { id: ${first.body.id}, server: 1, name: blog`);
      expect(await text()).not.toContain("forum");
    });

    test("one of many simultaneous changes is made", async () => {
      const { version } = await show();
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          send("POST", "sites", blog({ name: `blog ${n}` }), version),
        ),
      );
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
        201,
        ...Array(7).fill(409),
      ]);
      expect((await show()).sites).toHaveLength(2);
    });
  });

  describe("an entered secret", () => {
    const path = async () => {
      const [name = ""] = await secretNames();
      return join(service.folder, "secrets", name);
    };

    test("is stored in a file that only the service can read, and shown nowhere", async () => {
      const added = await send("POST", "databases", database());
      expect(added.status).toBe(201);
      const [name = ""] = await secretNames();
      const { id } = added.body;
      expect(name).toMatch(new RegExp(`^databases-${id}-url-[0-9a-f]{12}$`));
      expect(await text()).toContain(`url: "file:secrets/${name}"`.replaceAll('"', ""));
      expect(await readFile(await path(), "utf8")).toBe(`${secret}\n`);
      expect((await stat(await path())).mode & 0o777).toBe(0o600);
      expect((await stat(join(service.folder, "secrets"))).mode & 0o777).toBe(0o700);
      // The reference is resolved relative to the inventory; the connection fails, because nothing listens on its port.
      await mkdir(`${service.folder}/copies`);
      await send("POST", "storage-providers", {
        name: "disk",
        type: "local",
        path: `${service.folder}/copies`,
      });
      const { body: made } = await service.json<{ id: number }>(
        "POST",
        "/api/server/1/backup-configuration",
        {
          name: "nightly",
          frequency: "0 3 * * *",
          storage_provider_id: 1,
          backupable_type: "database",
          backupable_id: id,
        },
      );
      const configuration = `/api/backup-configuration/${made.id}`;
      const reason = async () =>
        (await service.json<{ status_reason: string }>("GET", configuration)).body.status_reason;
      await soon(async () => expect(await reason()).toContain("127.0.0.1:9"));
      const told = [added, await show(), await timeline(), await text(), log].map((one) =>
        JSON.stringify(one),
      );
      expect(told.join("\n")).not.toContain("planted-typed-password");
      // The database is removed with this test.
      await soon(async () => {
        await service.call("DELETE", configuration);
        expect((await service.call("GET", configuration)).status).toBe(404);
      });
    });

    test("is removed with its entry, and with the next one in its place", async () => {
      const { id } = (await send("POST", "databases", database())).body;
      const [first] = await secretNames();
      await send("PUT", `databases/${id}`, { ...database(), url: { secret: "postgres://other" } });
      const [second, ...more] = await secretNames();
      expect([second === first, more]).toEqual([false, []]);
      expect(await readFile(await path(), "utf8")).toBe("postgres://other\n");
      // The form sends an unchanged secret like this.
      const { databases } = await show();
      await send("PUT", `databases/${id}`, { ...databases[1], name: "store" });
      expect(await secretNames()).toEqual([second]);
      await send("DELETE", `databases/${id}`);
      expect(await secretNames()).toEqual([]);
    });

    test("a folder that others could enter is closed", async () => {
      await mkdir(`${service.folder}/secrets`);
      await chmod(`${service.folder}/secrets`, 0o755);
      await send("POST", "databases", database());
      expect((await stat(`${service.folder}/secrets`)).mode & 0o777).toBe(0o700);
    });
  });

  test("leftovers of a crash between storing a secret and its entry are removed at the next start, and nothing else", async () => {
    await send("POST", "databases", {
      server: 1,
      name: "shop",
      engine: "postgres",
      url: { secret },
    });
    const [used = ""] = await secretNames();
    const folder = join(service.folder, "secrets");
    await writeFile(join(folder, "databases-9-url-0123456789ab"), "left");
    await writeFile(join(folder, "fresh-9-url-0123456789ab"), "under way");
    await writeFile(join(folder, "by-hand"), "the operator's");
    const { utimes } = await import("node:fs/promises");
    for (const name of [used, "databases-9-url-0123456789ab", "by-hand"])
      await utimes(join(folder, name), 0, 0);
    await service.app.close("stop");
    const { createApp } = await import("../app.ts");
    service.app = await createApp(service.options);
    expect((await secretNames()).sort()).toEqual(
      ["by-hand", used, "fresh-9-url-0123456789ab"].sort(),
    );
  });

  test("two services with one file do not overwrite each other's changes", async () => {
    const other = await createTestService({
      inventory: () => "",
      inventoryFile: service.inventoryFile,
    });
    onTestFinished(() => other.close());
    const seen = await other.json<InventoryFile>("GET", "/api/inventory");
    await send("POST", "sites", blog());
    const answer = await other.json(
      "POST",
      `/api/inventory/sites?version=${seen.body.version}`,
      blog(),
    );
    expect(answer).toMatchObject({ status: 409, body: { code: "inventory_changed" } });
  });
});

describe("refusals and reads", () => {
  beforeAll(() => begin());
  afterAll(() => service.close());
  afterEach(putBack);

  test("shows the content of the file, and that it is writable", async () => {
    expect(await show()).toMatchObject({
      version: expect.stringMatching(/^[0-9a-f]{64}$/),
      file: service.inventoryFile,
      read_only_reason: null,
      problem: null,
      servers: [{ id: 1, name: "here", connection: "local" }],
      sites: [{ id: 1, name: "shop" }],
      databases: [{ id: 4, engine: "sqlite" }],
      storage_providers: [],
    });
  });

  describe("reports all errors at their fields at once", () => {
    const wrong: [string, string, object, Record<string, string[]>][] = [
      [
        "the schema's complaints",
        "sites",
        { server: 1, root: "relative", databasez: [1] },
        {
          name: ["The name field is required."],
          root: ["A path must be absolute; it starts with “/” or “~/”."],
          "": ["Unknown field “databasez”."],
        },
      ],
      [
        "references that lead nowhere",
        "sites",
        { server: 7, name: "blog", root: "/srv", databases: [4, 9] },
        { server: ["There is no server 7."], "databases.1": ["There is no database 9."] },
      ],
      [
        "inside a server's connection",
        "servers",
        { name: "web", connection: { ssh: { host: "-x", user: "deploy", key: "agent" } } },
        { "connection.ssh.host": ["A host is a name or an address, without a port."] },
      ],
      [
        "a user that the machine does not have",
        "sites",
        { server: 1, name: "blog", root: "/srv", user: "no-such-user" },
        { user: ["This machine has no user “no-such-user”."] },
      ],
      [
        "an id that another entry has",
        "sites",
        { id: 1, server: 1, name: "blog", root: "/srv" },
        { id: ["The id 1 is used twice."] },
      ],
    ];
    test("in the schema, references, connections, users and ids", async () => {
      const before = await text();
      for (const [what, path, entry, errors] of wrong) {
        const answer = await send("POST", path, entry);
        expect([answer.status, answer.body.errors], what).toEqual([422, errors]);
      }
      const answer = await send("PUT", "sites/1", { ...blog(), id: 9 });
      expect(answer.body.errors).toEqual({ id: ["The id of an entry cannot be changed."] });
      expect(await text()).toBe(before);
      expect(await secretNames()).toEqual([]);
    });

    test("an error in another entry is reported with that entry and its line", async () => {
      await writeFile(
        service.inventoryFile,
        (await text()).replace(`root: ${service.folder}/shop`, "root: ~/shop"),
      );
      const answer = await send("PUT", "servers/1", {
        name: "here",
        connection: { ssh: { host: "a", user: "b", key: "agent" } },
      });
      expect(answer).toMatchObject({
        status: 422,
        body: {
          errors: {
            inventory: ["Site 1 (shop), line 6: A path on a server over SSH must start with “/”."],
          },
        },
      });
    });
  });

  test("an entry that other entries reference is not removed", async () => {
    expect(await send("DELETE", "servers/1")).toMatchObject({
      status: 409,
      body: {
        code: "inventory_in_use",
        message:
          "Couldn't remove server 1 (here): site 1 (shop), database 4 (orders) use it. Change or remove those entries first.",
      },
    });
  });

  test("shows a change by hand without overwriting it, and masks secrets in it", async () => {
    const { version } = await show();
    const byHand = `${await text()}  - { id: 6, server: 1, name: logs, engine: mysql, url: "mysql://u:hunter2@h/d" } # https://u:hunter3@h\n`;
    await writeFile(service.inventoryFile, byHand);
    const answer = await send("POST", "sites", blog(), version);
    expect(answer.status).toBe(409);
    expect(answer.body.diff).toContain(
      "+  - { id: 6, server: 1, name: logs, engine: mysql, url: … }",
    );
    expect(JSON.stringify(answer)).not.toMatch(/hunter/);
    expect(await text()).toBe(byHand);
    expect(JSON.stringify(await show())).not.toMatch(/hunter/);
  });

  test("a version from before the start has no diff, and a request without a version is refused", async () => {
    const early = await send("POST", "sites", blog(), "0".repeat(64));
    expect([early.status, early.body.diff]).toEqual([409, null]);
    const answer = await service.json<Answer["body"]>("POST", "/api/inventory/sites", blog());
    expect([answer.status, answer.body.errors]).toEqual([
      422,
      { version: ["The version field is required."] },
    ]);
  });

  test("leaves an invalid YAML file unchanged", async () => {
    await writeFile(service.inventoryFile, "servers: [");
    const { version, servers } = await show();
    expect(servers).toEqual([]);
    expect(await send("POST", "sites", blog(), version)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("no valid YAML") },
    });
    expect(await text()).toBe("servers: [");
  });

  describe("tokens", () => {
    const tokenWith = async (body: object) =>
      (await service.json<NewToken>("POST", "/api/tokens", { name: "other", ...body })).body.token;

    test("refuses read-only tokens and those limited to one server", async () => {
      const narrow = [{ abilities: ["read"] }, { abilities: ["*"], server_ids: [1] }];
      const tokens = await Promise.all(narrow.map(tokenWith));
      const { version } = await show();
      const asked = [
        ["GET", "/api/inventory"],
        ["POST", `/api/inventory/sites?version=${version}`],
        ["PUT", `/api/inventory/sites/1?version=${version}`],
        ["DELETE", `/api/inventory/sites/1?version=${version}`],
        ["POST", "/api/inventory/servers/test"],
        ["POST", "/api/inventory/databases/test"],
        ["POST", "/api/inventory/storage-providers/test"],
        ["POST", "/api/inventory/notification-channels/test"],
      ] as const;
      for (const token of tokens)
        for (const [method, path] of asked)
          expect(
            (await service.call(method, path, method === "GET" ? undefined : blog(), token)).status,
            path,
          ).toBe(403);
    });

    test("answers 404 for a missing entry", async () => {
      expect((await send("PUT", "sites/9", blog())).status).toBe(404);
      expect((await send("DELETE", "storage-providers/1")).status).toBe(404);
    });
  });

  describe("an entered secret", () => {
    test("leaves nothing if the entry is refused", async () => {
      expect((await send("POST", "databases", { ...database(), server: 9 })).status).toBe(422);
      expect((await send("POST", "databases", database(), "0".repeat(64))).status).toBe(409);
      expect(await secretNames()).toEqual([]);
    });

    test("is not written through a link", async () => {
      await mkdir(`${service.folder}/elsewhere`);
      await symlink(`${service.folder}/elsewhere`, `${service.folder}/secrets`);
      const answer = await send("POST", "databases", database());
      expect(answer).toMatchObject({
        status: 409,
        body: { message: expect.stringContaining("is not a folder of Quarterdeck's account") },
      });
      expect(await readdir(`${service.folder}/elsewhere`)).toEqual([]);
      expect(JSON.stringify(answer)).not.toContain("planted-typed-password");
    });

    test("is refused in a field that takes none, without being repeated", async () => {
      const answer = await send("POST", "databases", { ...database(), url: secret });
      expect(answer).toMatchObject({
        status: 422,
        body: { errors: { url: ["A secret must be “env:NAME” or “file:PATH”."] } },
      });
      expect(JSON.stringify(answer) + log).not.toContain("planted-typed-password");
    });
  });
});

describe("a read-only file", () => {
  beforeAll(() => begin({ isInventoryReadOnly: true }));
  afterAll(() => service.close());
  afterEach(putBack);

  test("is reported with the lines to paste, without the secret", async () => {
    const before = await text();
    expect((await show()).read_only_reason).toContain("QUARTERDECK_INVENTORY_READONLY is set");
    const entry = { server: 1, name: "shop", engine: "postgres", url: { secret } };
    const answer = await send("POST", "databases", entry);
    expect(answer).toMatchObject({ status: 409, body: { code: "inventory_read_only" } });
    expect(answer.body.yaml).toMatch(
      /^databases:\n {2}- \{ id: 5, server: 1, name: shop, engine: postgres, url: file:secrets\/databases-5-url-\w+ \}\n$/,
    );
    expect(answer.body.diff).toContain("+  - id: 5");
    expect(JSON.stringify(answer)).not.toContain("planted-typed-password");
    expect((await send("POST", "databases", { ...entry, server: 9 })).status).toBe(422);
    expect((await send("DELETE", "sites/1")).body.code).toBe("inventory_read_only");
    expect([await text(), await secretNames()]).toEqual([before, []]);
  });

  test("does not show a secret that was written into the file by hand either", async () => {
    const byHand = `${await text()}  - { id: 6, server: 1, name: logs, engine: mysql, url: "mysql://u:hunter2@h/d" }\n`;
    await writeFile(service.inventoryFile, byHand);
    const answer = await send("DELETE", "databases/6");
    expect(answer).toMatchObject({ status: 409, body: { code: "inventory_read_only" } });
    expect(answer.body.yaml).toContain("name: logs, engine: mysql, url: …");
    expect(JSON.stringify(answer)).not.toContain("hunter2");
  });
});

test("an instance that reads no inventory shows the lines to paste, too", async () => {
  await begin();
  onTestFinished(() => service.close());
  await service.app.close("stop");
  const { createApp } = await import("../app.ts");
  service.app = await createApp({
    ...service.options,
    instance: { ...oneOfMany, role: "api" },
  });
  const { version, file, read_only_reason, sites } = await show();
  expect([version, file, sites.length]).toEqual([null, null, 1]);
  expect(read_only_reason).toContain("QUARTERDECK_ROLE=api");
  const answer = await service.json<Answer["body"]>("POST", "/api/inventory/sites", blog());
  expect([answer.status, answer.body.code]).toEqual([409, "inventory_read_only"]);
  expect(answer.body.yaml).toContain("sites:\n  - { id: 2, server: 1, name: blog");
});
