// Tests discovery on this machine and over SSH: it finds what exists, recognizes what the inventory has, and adds nothing.
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { databaseUrl } from "../../contract/database-url.ts";
import type { Discovery, FoundDatabases } from "../../contract/discovery.ts";
import { startMariadbServer } from "../backups/testing/mariadb-server.ts";
import { createLocalHost } from "../hosts/local.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";
import { ownUser } from "../testing/own-user.ts";
import { scanServer } from "./scan.ts";
import { administer, createTestService, oneSite, type TestService } from "../testing/service.ts";
import { soon } from "../testing/soon.ts";

const remote = createRemoteServer();
let service: TestService;
let sites: string;

beforeAll(async () => {
  const connection = await remote.connection();
  service = await createTestService({
    inventory: (folder) =>
      `${oneSite(folder).replace("sites:", `  - { id: 2, name: there, connection: ${connection} }\nsites:`)}
  - { id: 2, server: 2, name: shop there, root: ${folder}/shop, user: ${ownUser} }
databases:
  - { id: 1, server: 1, name: known, engine: sqlite, path: ${folder}/shop/database/database.sqlite, user: ${ownUser} }
`,
  });
  sites = service.folder;
  await mkdir(join(sites, "shop/database"));
  await writeFile(join(sites, "shop/database/database.sqlite"), "SQLite format 3\0");
  // A site with releases, with a tab and a quote in its name.
  const odd = join(sites, "blog's\tnew");
  await mkdir(join(odd, "releases/1"), { recursive: true });
  await writeFile(join(odd, "releases/1/artisan"), "");
  await symlink("releases/1", join(odd, "current"));
  // Not sites: a file of a dependency, a folder of that name, and an inaccessible folder.
  await mkdir(join(sites, "shop/vendor/laravel"), { recursive: true });
  await writeFile(join(sites, "shop/vendor/laravel/artisan"), "");
  await mkdir(join(sites, "folder/artisan"), { recursive: true });
  await mkdir(join(sites, "closed"));
  await chmod(join(sites, "closed"), 0);
  await remote.responds();
});
afterAll(async () => {
  await chmod(join(sites, "closed"), 0o700);
  await service.close();
});

const discover = async (server: number) => {
  const { status, body } = await service.json<Discovery>("GET", `/api/server/${server}/discovery`);
  expect(status, JSON.stringify(body)).toBe(200);
  const ours = (path: string) => path.startsWith(`${sites}/`);
  return {
    ...body,
    sites: body.sites.filter(({ root }) => ours(root)),
    sqlite_files: body.sqlite_files.filter(({ path }) => ours(path)),
  };
};

describe.each([
  { where: "this machine", server: 1 },
  { where: "a server over SSH", server: 2 },
])("on $where", ({ server }) => {
  test("finds sites that the inventory lacks, and the databases in them", async () => {
    const before = await readFile(service.inventoryFile, "utf8");
    const found = await discover(server);
    expect(found.sites).toEqual([
      {
        root: `${sites}/blog's\tnew/current`,
        name: "blog's\tnew",
        user: ownUser,
        site_id: null,
      },
      { root: `${sites}/shop`, name: "shop", user: ownUser, site_id: server },
    ]);
    expect(found.sqlite_files).toEqual([
      {
        path: `${sites}/shop/database/database.sqlite`,
        name: "shop",
        user: ownUser,
        database_id: server === 1 ? 1 : null,
      },
    ]);
    expect(await readFile(service.inventoryFile, "utf8")).toBe(before);
  });
});

test("reports a server that does not respond", async () => {
  const [sshd] = [await remote.sshd()];
  // The server's entry leads to a port on which nothing listens.
  const text = await readFile(service.inventoryFile, "utf8");
  const broken = join(service.folder, "broken");
  await writeFile(broken, text.replace(`port: ${sshd.port}`, "port: 1"));
  await rename(broken, service.inventoryFile);
  await soon(async () => {
    const { status, body } = await service.json<{ message: string }>(
      "GET",
      "/api/server/2/discovery",
    );
    expect(status).toBe(409);
    expect(body.message).toContain("refused the connection");
  });
});

test("needs a token with all permissions for all servers", async () => {
  const tokenOf = async (body: object) =>
    (await service.json<{ token: string }>("POST", "/api/tokens", { name: "few", ...body })).body
      .token;
  for (const token of [
    await tokenOf({ abilities: ["read"] }),
    await tokenOf({ abilities: ["*"], server_ids: [1] }),
  ]) {
    const look = await service.call("GET", "/api/server/1/discovery", undefined, token);
    expect(look.status).toBe(403);
    const login = { engine: "postgres", user: "a", password: "b" };
    const list = await service.call("POST", "/api/server/1/discovery/databases", login, token);
    expect(list.status).toBe(403);
    const program = { program: "a", file: "/b", version: "c" };
    const take = await service.call("POST", "/api/server/1/discovery/take-over", program, token);
    expect(take.status).toBe(403);
  }
});

describe("the databases of a discovered server", () => {
  const list = async (body: object) =>
    (await service.json<FoundDatabases>("POST", "/api/server/1/discovery/databases", body)).body;

  test("lists those of PostgreSQL that its user may connect to", async () => {
    await administer("create role looker login password 'right'");
    onTestFinished(() => administer("drop role looker"));
    const { host } = inject("postgres");
    const login = {
      engine: "postgres",
      port: null,
      socket: host,
      user: "looker",
      password: "right",
    };
    const { databases, problem } = await list(login);
    expect(problem).toBeNull();
    expect(databases).toContain(inject("templateDatabase"));
    expect(databases).not.toContain("template1");

    const name = inject("templateDatabase");
    const url = databaseUrl({ engine: "postgres", port: null, socket: host }, login, name);
    const change = async (method: string, path: string, entry?: object) => {
      const { body } = await service.json<{ version: string }>("GET", "/api/inventory");
      const at = `/api/inventory/databases${path}?version=${body.version}`;
      return service.json<{ id: number }>(method, at, entry);
    };
    const { status, body } = await change("POST", "", {
      server: 1,
      name: "listed",
      engine: "postgres",
      url: { secret: url },
    });
    expect(status, JSON.stringify(body)).toBe(201);
    onTestFinished(async () => void (await change("DELETE", `/${body.id}`)));
    expect((await list(login)).known).toEqual([{ name, database_id: body.id }]);
    const refused = await list({ ...login, password: "another one" });
    expect(refused.databases).toEqual([]);
    expect(refused.problem).toMatch(/^This server: .* refuses the password.* in the login\.$/);
    expect(JSON.stringify(refused)).not.toContain("another one");
  });

  test("lists those of MariaDB without the server's own", async () => {
    const mariadb = await startMariadbServer();
    try {
      await mariadb.createDatabase("shop");
      const url = new URL(mariadb.url("shop"));
      const { username: user, port } = url;
      const password = decodeURIComponent(url.password);
      const login = { engine: "mysql", port: Number(port), user, password };
      const { databases, problem } = await list(login);
      expect(problem).toBeNull();
      expect(databases).toContain("shop");
      expect(databases).not.toContain("information_schema");
      const refused = await list({ ...login, password: "another one" });
      expect(refused.problem).toMatch(/ password\. Correct the login\. /);
    } finally {
      await mariadb.stop();
    }
  });

  test("refuses a login without a user at its field", async () => {
    const { status, body } = await service.json<{ errors: object }>(
      "POST",
      "/api/server/1/discovery/databases",
      { engine: "oracle", password: "" },
    );
    expect(status).toBe(422);
    expect(Object.keys(body.errors).sort()).toEqual(["engine", "user"]);
  });
});

test("finds programs of supervisord that run a queue in its configuration", async () => {
  const folder = join(service.folder, "supervisor");
  await mkdir(join(folder, "conf.d"), { recursive: true });
  await writeFile(
    join(folder, "supervisord.conf"),
    "[unix_http_server]\nfile=/run/s\n\n[include]\nfiles = conf.d/*.conf %(here)s/more.ini\n",
  );
  await writeFile(
    join(folder, "conf.d/shop.conf"),
    "[program:shop worker]\ncommand = php /srv/shop/artisan queue:work redis --queue='a b'\nnumprocs=2 ; two of them\n[program:web]\ncommand=php-fpm\n",
  );
  await writeFile(
    join(folder, "conf.d/own.conf"),
    "[program:quarterdeck-0123456789ab-7-1]\ncommand=env A=b php artisan queue:work database\n",
  );
  await writeFile(
    join(folder, "more.ini"),
    "[program:late]\ncommand=artisan\n  queue:work\n\n  --tries=2 # twice\nenvironment: A=1,\n\tB=2\n\n[group:all]\nprograms=early,late",
  );
  const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/nowhere" });
  const found = await scanServer(
    host,
    { roots: [], supervisordConfig: join(folder, "supervisord.conf") },
    new AbortController().signal,
  );
  expect(found.queue_workers).toEqual([
    {
      program: "shop worker",
      file: join(folder, "conf.d/shop.conf"),
      options: new Map([
        ["command", "php /srv/shop/artisan queue:work redis --queue='a b'"],
        ["numprocs", "2"],
      ]),
      group: null,
      otherFiles: [],
      isAlone: false,
    },
    {
      program: "late",
      file: join(folder, "more.ini"),
      options: new Map([
        ["command", "artisan\nqueue:work\n--tries=2"],
        ["environment", "A=1,\nB=2"],
      ]),
      group: "all",
      otherFiles: [],
      isAlone: false,
    },
  ]);
});

test("parses a configuration like supervisord: indented, in capitals, from included files", async () => {
  const folder = join(service.folder, "written-otherwise");
  await mkdir(join(folder, "more"), { recursive: true });
  await writeFile(
    join(folder, "supervisord.conf"),
    "[include]\n; files = gone/*.conf\nFiles: one.conf ; and\n  # not gone.conf\n  more/*.ini\n\n[inet_http_server]\nport=9001\n",
  );
  await writeFile(
    join(folder, "one.conf"),
    "[program:indented]\n  command=php artisan\n    queue:work redis\n  ; of them\n  numprocs=4\n",
  );
  await writeFile(
    join(folder, "more/two.ini"),
    "[program:capitals]\nCommand = php artisan queue:work\nNumProcs : 2\n",
  );
  const found = await scanServer(
    createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/nowhere" }),
    { roots: [], supervisordConfig: join(folder, "supervisord.conf") },
    new AbortController().signal,
  );
  expect(found.notes).toEqual([]);
  expect(found.queue_workers.map(({ program, options }) => [program, ...options])).toEqual([
    ["indented", ["command", "php artisan\nqueue:work redis"], ["numprocs", "4"]],
    ["capitals", ["command", "php artisan queue:work"], ["numprocs", "2"]],
  ]);
});

describe("a result", () => {
  const look = (roots: string[], path = "") =>
    scanServer(
      createLocalHost({ PATH: `${path}:${process.env["PATH"] ?? ""}`, HOME: "/nowhere" }),
      { roots, supervisordConfig: join(many, "many.conf") },
      new AbortController().signal,
    );
  let many: string;

  beforeAll(async () => {
    many = await mkdtemp(join(tmpdir(), "quarterdeck-many-"));
    await writeFile(join(many, "many.conf"), "[program:late]\ncommand=artisan queue:work\n");
  });
  afterAll(() => rm(many, { recursive: true }));

  test.skipIf(!existsSync("/bin/busybox"))(
    "of a server without GNU find says that no site was searched for",
    async () => {
      const programs = join(many, "busybox");
      await mkdir(programs);
      await symlink("/bin/busybox", join(programs, "find"));
      expect((await look([sites])).notes).toEqual([]);
      const { sites: found, notes } = await look([sites], programs);
      expect(found).toEqual([]);
      expect(notes).toEqual([
        `${sites} was not searched for sites, which needs GNU find. Install it (package findutils).`,
      ]);
    },
  );

  test("with many files of one account does not hide other entries, and is not truncated within a name", async () => {
    const folder = join(many, "a".repeat(250), "b".repeat(250), "c".repeat(250), "d".repeat(250));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "artisan"), "");
    for (let file = 0; file < 1000; file++)
      await writeFile(join(folder, `${file}${"e".repeat(200)}.db`), "x");
    const found = await look([many]);
    expect(found.queue_workers.map(({ program }) => program)).toEqual(["late"]);
    expect(found.sqlite_files.filter(({ path }) => !path.endsWith(".db"))).toEqual([]);
    expect(found.sqlite_files).toHaveLength(500);
    expect(found.notes).toEqual([expect.stringMatching(/more may be there\.$/)]);
  });

  test("of a search that timed out omits the incomplete last name", async () => {
    await mkdir(join(many, "bin"));
    await writeFile(
      join(many, "bin/timeout"),
      String.raw`#!/bin/sh
printf 'artisan\tu\t/srv/shop/artisan\0artisan\tu\t/srv/blog/arti'; exit 124
`,
      { mode: 0o755 },
    );
    const found = await look([many], join(many, "bin"));
    expect(found.sites.map(({ root }) => root)).toEqual(["/srv/shop"]);
    expect(found.notes).toEqual([expect.stringContaining("was stopped after 6 seconds")]);
  });

  test("is sorted by name", async () => {
    const root = join(many, "listed");
    const names = ["a10", "a9", "Beta", "alpha", "gamma", "zeta", "delta"];
    for (const name of names) {
      await mkdir(join(root, name), { recursive: true });
      for (const file of ["artisan", "shop.db"]) await writeFile(join(root, name, file), "x");
    }
    const found = await look([root]);
    const sorted = ["a10", "a9", "alpha", "Beta", "delta", "gamma", "zeta"];
    expect(found.sites.map(({ name }) => name)).toEqual(sorted);
    expect(found.sqlite_files.map(({ name }) => name)).toEqual(
      sorted.map((name) => `${name} shop`),
    );
  });

  test("assigns an entry to the nearest site", async () => {
    const inner = join(many, "outer/sites/inner");
    await mkdir(inner, { recursive: true });
    for (const folder of [join(many, "outer"), inner]) await writeFile(join(folder, "artisan"), "");
    await writeFile(join(inner, "shop.db"), "x");
    const { sqlite_files } = await look([join(many, "outer")]);
    expect(sqlite_files.map(({ name }) => name)).toEqual(["inner shop"]);
  });
});
