// Tests RECOVERY.md: a shell with only the storage's folder and Debian's programs runs its commands unchanged.
import { execFile, spawnSync } from "node:child_process";
import {
  access,
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyStorage } from "../../storage/testing/stored-files.ts";
import { inLongForm } from "../../testing/long-form.ts";
import { isRoot } from "../../testing/machine.ts";
import { ownUser } from "../../testing/own-user.ts";
import { makeMemoryFolder } from "../../testing/memory-folder.ts";
import { recoveryName } from "./recovery-page.ts";
import { manifestKeyOf } from "../stored-file.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";
import { startMariadbServer } from "../testing/mariadb-server.ts";
import { hasPostgresServer, startPostgresServer } from "../testing/postgres-server.ts";

const execute = promisify(execFile);
const isThere = (program: string) => spawnSync(program, ["--version"]).error === undefined;
const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const debianPath = "/usr/sbin:/usr/bin:/sbin:/bin";

/** Extracts the commands of the page from "Restore" on, which a user would paste into a shell. */
const pageToScript = `awk '/^## 2/ { on = 1 } /^\`\`\`$/ { code = 0 } on && code { print } /^\`\`\`sh$/ { code = 1 }' ${recoveryName}`;

const pageIn = (folder: string) => readFile(join(folder, recoveryName), "utf8");

describe.skipIf(
  !isRoot || !hasPostgresServer || !["mariadb", "zstd", "sqlite3", "age"].every(isThere),
)("on an empty machine", () => {
  // Names with characters that are special in a shell, a connection string or SQL.
  const shop = `shop's "new" = $1`;
  const blog = "blog`s 'old'";
  let postgres: Awaited<ReturnType<typeof startPostgresServer>>;
  let mariadb: Awaited<ReturnType<typeof startMariadbServer>>;
  let service: BackupTestService;
  let copy: string;
  beforeAll(async () => {
    [postgres, mariadb] = await Promise.all([startPostgresServer(), startMariadbServer()]);
    await postgres.createDatabase(shop);
    await mariadb.query(null, "CREATE DATABASE `blog``s 'old'` CHARACTER SET utf8mb4");
    service = await createBackupTestService(
      { secrets: { SHOP: postgres.url(shop), BLOG: mariadb.url(blog), DRILL: identity } },
      {
        providers: (folder) =>
          `  - { id: 3, name: sealed, type: local, path: ${folder}/sealed, recipients: [${recipient}], drill_identity: env:DRILL }`,
        databases: (
          folder,
        ) => `  - { id: 4, server: 1, name: shop, engine: postgres, url: env:SHOP }
  - { id: 5, server: 1, name: blog, engine: mysql, url: env:BLOG }
  - { id: 6, server: 1, name: inside, engine: sqlite, path: ${folder}/shop/data/inside.sqlite, user: ${ownUser} }`,
      },
    );
    await mkdir(join(service.folder, "sealed"));
    copy = await makeMemoryFolder("quarterdeck-recovery-");
  });
  afterAll(async () => {
    await service?.close();
    await Promise.all([postgres?.stop(), mariadb?.stop()]);
    await rm(copy, { recursive: true, force: true });
  });

  const rowsOfShop = () =>
    postgres.query(shop, "select o.*, lo_get(o.scan) as bytes from orders o order by id");
  const rowsOfBlog = () =>
    mariadb.query(
      blog,
      "SELECT * FROM posts ORDER BY id; SELECT * FROM titles ORDER BY title; SELECT ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()",
    );
  const site = () => join(service.folder, "shop");
  const everythingInSite = async () =>
    (
      await execute(
        "tar",
        [
          "-cf",
          "-",
          "--format=posix",
          "--pax-option=delete=atime,delete=ctime",
          "--exclude=./data",
          "--sort=name",
          "--numeric-owner",
          "--xattrs",
          "-C",
          site(),
          ".",
        ],
        { encoding: "latin1", maxBuffer: 2 ** 26 },
      )
    ).stdout;

  test("restores a PostgreSQL, a MariaDB and a SQLite database and a site, full and incremental", async () => {
    await postgres.query(
      shop,
      `create type state as enum ('open', 'paid');
         create table orders (id int primary key, note text, state state default 'open', scan oid);
         insert into orders select i, 'note ' || i, 'paid', lo_from_bytea(0, '\\x00ff27') from generate_series(1, 1000) i;
         create view paid as select * from orders where state = 'paid'`,
    );
    await mariadb.query(
      blog,
      "CREATE TABLE posts (id INT PRIMARY KEY, title TEXT, body BLOB); INSERT INTO posts VALUES (1, 'ü 😀', x'00FF27'), (2, 'a\\\\b', NULL); CREATE VIEW titles AS SELECT title FROM posts; CREATE TRIGGER t BEFORE INSERT ON posts FOR EACH ROW SET NEW.title = UPPER(NEW.title) /* as the shop wants it */;",
    );
    await mkdir(join(site(), "public"));
    await mkdir(join(site(), "private"), { mode: 0o700 });
    await writeFile(join(site(), "public/app.js"), "1");
    await chmod(join(site(), "public/app.js"), 0o4711);
    await link(join(site(), "public/app.js"), join(site(), "other.js"));
    await symlink("public", join(site(), "web"));
    await mkdir(join(site(), "data"));
    const inside = join(site(), "data/inside.sqlite");
    await execute("sqlite3", [inside, "create table t (x); insert into t values ('of the site')"]);
    const orders = service.sql("select * from orders order by id");

    for (const change of [
      { backupable_id: 1, directory: "it's here/$HOME" },
      { backupable_id: 4, incremental: true },
      { backupable_id: 5, incremental: true },
      { backupable_type: "site", backupable_id: 1, incremental: true },
      { backupable_id: 6 },
    ]) {
      if (change.backupable_id === 6)
        await execute("sqlite3", [inside, "update t set x = 'its own'"]);
      const { id, incremental } = await service.installed(change);
      const full = await service.run(id);
      expect(full.status, full.output).toBe("finished");
      if (incremental !== true) continue;
      // Changes the data after the full.
      if (change.backupable_id === 4)
        await postgres.query(shop, "update orders set note = note || '!' where id % 7 = 0");
      else if (change.backupable_id === 5)
        await mariadb.query(blog, "INSERT INTO posts VALUES (3, 'later', NULL)");
      else await writeFile(join(site(), "later.txt"), "later");
      expect(await service.run(id)).toMatchObject({ status: "finished", base_id: full.id });
    }
    const copies = join(service.folder, "copies");
    await soon(async () => {
      expect((await pageIn(copies)).match(/^### /gm)).toHaveLength(5);
      expect((await pageIn(copies)).match(/--patch-from=/g)).toHaveLength(3);
    });
    const before = [await rowsOfShop(), await rowsOfBlog(), await everythingInSite()];

    const all = await readdir(copies, { recursive: true, withFileTypes: true });
    const texts = await Promise.all(
      all
        .filter(({ name }) => /\.(?:json|md)$/.test(name))
        .map(({ parentPath, name }) => readFile(join(parentPath, name), "utf8")),
    );
    expect(texts).toHaveLength(9);
    for (const url of [postgres.url(shop), mariadb.url(blog)]) {
      const { password } = new URL(url);
      for (const secret of [password, decodeURIComponent(password)])
        expect(texts.filter((text) => text.includes(secret))).toEqual([]);
    }

    await copyStorage(copies, copy);
    await postgres.query("postgres", `drop database "shop's ""new"" = $1"`);
    await mariadb.query(null, "DROP DATABASE `blog``s 'old'`");
    await rm(join(service.folder, "orders.sqlite"));
    await rename(site(), `${site()}-lost`);
    // A new folder in a set-group-ID folder inherits that bit.
    await chmod(service.folder, 0o2755);

    const { port, hostname, username, password } = new URL(postgres.url(shop));
    const follow = () =>
      execute("bash", ["-c", `bash -e <(${pageToScript})`], {
        cwd: copy,
        env: {
          PATH: debianPath,
          // Addresses of the test's servers; normally the programs use their defaults.
          PGHOST: hostname,
          PGPORT: port,
          PGUSER: username,
          PGPASSWORD: decodeURIComponent(password),
          MYSQL_HOST: hostname,
          MYSQL_TCP_PORT: new URL(mariadb.url(blog)).port,
        },
      });
    const { stdout } = await follow();
    expect(stdout.match(/: OK$/gm)).toHaveLength(8);
    expect([await rowsOfShop(), await rowsOfBlog(), await everythingInSite()]).toEqual(before);
    expect(service.sql("select * from orders order by id")).toEqual(orders);
    const insideNow = await execute("sqlite3", [inside, "select x from t"]);
    expect(insideNow.stdout).toBe("its own\n");

    // Existing data stays unchanged.
    service.sql("delete from orders");
    await expect(follow()).rejects.toThrow(/exists/i);
    expect(service.sql("select * from orders")).toEqual([]);
  });

  test("restores an incremental backup of an encrypted storage with a private key, by the page and by the manifests", async () => {
    const sealed = join(service.folder, "sealed");
    service.sql("insert into orders (customer) values ('ada')");
    const made = await service.installed({
      backupable_id: 1,
      storage_provider_id: 3,
      incremental: true,
    });
    const full = await service.run(made.id);
    service.sql("insert into orders (customer) values ('lovelace')");
    const orders = service.sql("select * from orders");
    const { path, base_id: baseId } = await service.run(made.id);
    expect(baseId).toBe(full.id);
    await soon(async () => expect(await pageIn(sealed)).toContain(path));
    expect(await pageIn(sealed)).toMatch(/^apt-get install --yes .*\bage\b/m);
    const file = join(sealed, path);
    const { restore } = JSON.parse(await readFile(manifestKeyOf(file), "utf8"));
    const env = { PATH: debianPath };
    for (const [script, cwd] of [
      [`bash -e <(${pageToScript})`, sealed],
      [`set -e -o pipefail\n${restore.join("\n")}`, join(file, "..")],
    ] as const) {
      await writeFile(join(cwd, "identity.txt"), identity, { mode: 0o600 });
      await rm(join(service.folder, "orders.sqlite"));
      await execute("bash", ["-c", script], { cwd, env });
      expect(service.sql("select * from orders")).toEqual(orders);
      // Existing data stays unchanged.
      await expect(execute("bash", ["-c", script], { cwd, env })).rejects.toThrow(
        /orders\.sqlite already exists/,
      );
      // Files left by failed commands do not prevent later ones.
      await access(`${file}.base`);
    }
  });

  // The test above covers the commands of an encrypted storage.
  inLongForm(() => {
    test("a manifest's own commands restore its file in its folder", async () => {
      const { id } = await service.installed({ backupable_id: 4, name: "Again" });
      const { path } = await service.run(id);
      const before = await rowsOfShop();
      const file = join(service.folder, "copies", path);
      const { restore } = JSON.parse(await readFile(manifestKeyOf(file), "utf8"));
      await postgres.query("postgres", `drop database "shop's ""new"" = $1"`);
      const { port, hostname, username, password } = new URL(postgres.url(shop));
      await execute("bash", ["-c", `set -e -o pipefail\n${restore.join("\n")}`], {
        cwd: join(file, ".."),
        env: {
          PATH: debianPath,
          PGHOST: hostname,
          PGPORT: port,
          PGUSER: username,
          PGPASSWORD: decodeURIComponent(password),
        },
      });
      expect(await rowsOfShop()).toEqual(before);
    });
  });
});

describe("the page", () => {
  let service: BackupTestService;
  beforeAll(async () => {
    service = await createBackupTestService();
  });
  afterAll(() => service?.close());
  const copies = () => join(service.folder, "copies");
  const page = () => pageIn(copies());

  test("lists the newest good backup of each source, and no missing or damaged one", async () => {
    const { id } = await service.installed({ hold: 2 });
    const first = await service.run(id);
    await soon(async () => expect(await page()).toContain(first.path));
    const second = await service.run(id);
    await soon(async () => expect(await page()).toContain(second.path));
    expect(await page()).not.toContain(first.path);
    expect((await page()).match(/^### /gm)).toEqual(["### "]);

    // A clock that was ahead must not make a backup the newest for a year.
    await service.query(
      `update backups set started_at = started_at + interval '400 days', ended_at = ended_at + interval '400 days' where id = ${first.id}`,
    );
    const another = await service.installed({ name: "Another" });
    const third = await service.run(another.id);
    await soon(async () => expect(await page()).toContain(third.path));

    await service.call("DELETE", `/api/backup/${third.id}`);
    await soon(async () => expect(await page()).toContain(second.path));

    const file = join(copies(), second.path);
    await writeFile(file, Buffer.alloc((await readFile(file)).length));
    await service.call("POST", `/api/backup/${second.id}/drill`);
    await soon(async () => expect(await page()).toContain(first.path));

    await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
    await service.call("DELETE", `/api/backup-configuration/${another.id}?files=remove`);
    await soon(async () => expect(await readdir(copies())).toEqual([".quarterdeck-storage"]));
  });

  test("that cannot be written adds a warning to the run, until it can", async () => {
    const { id } = await service.installed();
    // A folder of that name cannot be replaced by a file, not even by root.
    await rm(join(copies(), recoveryName), { force: true });
    await mkdir(join(copies(), recoveryName));
    await writeFile(join(copies(), recoveryName, "in the way"), "");
    const backup = await service.run(id);
    expect(backup.status, backup.output).toBe("finished");
    const warningsOf = async () => (await service.backup(backup.id)).warnings;
    await soon(async () =>
      expect(await warningsOf()).toContainEqual(
        expect.stringMatching(/^RECOVERY\.md couldn't be written: .*copies/),
      ),
    );
    await rm(join(copies(), recoveryName), { recursive: true });
    const next = await service.run(id);
    await soon(async () => expect(await page()).toContain(next.path));
    await soon(async () => expect((await warningsOf())?.join() ?? "").not.toContain(recoveryName));
  });
});
