import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { diagnosis, type Diagnosis } from "../../contract/doctor.ts";
import { createLocalHost } from "../hosts/local.ts";
import { listen } from "../net/testing/receivers.ts";
import { startMailServer } from "../notifications/channels/testing/mail-server.ts";
import { readSmtpUrl } from "../notifications/channels/smtp-url.ts";
import { sshEntry } from "../ssh/testing/entry.ts";
import { startSshd } from "../ssh/testing/sshd.ts";
import { createServers } from "../ssh/servers.ts";
import { openOwnServer } from "../store/own-server.ts";
import { freePort } from "../testing/free-port.ts";
import { makeFolder } from "../testing/machine.ts";
import { ownUser } from "../testing/own-user.ts";
import { administer, createDatabase, databaseUrl } from "../testing/service.ts";
import { withClient } from "../testing/with-client.ts";
import { diagnose } from "./diagnose.ts";

type Installation = {
  folder: string;
  inventory: string;
  url: string;
  smtp?: string;
  path?: string;
  /** Limit of each check; by default long enough for a busy machine. */
  limitMs?: number;
};

async function check({
  folder,
  inventory,
  url,
  smtp,
  path,
  limitMs = 120_000,
}: Installation): Promise<Diagnosis[]> {
  const inventoryFile = join(folder, "inventory.yaml");
  await writeFile(inventoryFile, inventory);
  const environment = { PATH: path ?? process.env["PATH"] ?? "", HOME: folder };
  const host = createLocalHost(environment);
  const servers = createServers({ local: host, environment, inventoryFolder: folder });
  try {
    const found = await diagnose({
      config: {
        dataFolder: folder,
        inventoryFile,
        smtp: smtp === undefined ? null : readSmtpUrl(smtp),
      },
      environment: { KEY: "key" },
      limitMs,
      isOfService: false,
      nodeVersion: process.version,
      host,
      servers,
      reservedAccounts: [],
      openDatabase: () => openOwnServer(url),
    });
    return found.map((one) => diagnosis.parse(one));
  } finally {
    await servers.close();
  }
}

async function makeDatabase(): Promise<string> {
  const name = await createDatabase();
  onTestFinished(() => administer(`drop database ${name} with (force)`));
  return databaseUrl(name);
}

const of = (found: readonly Diagnosis[], name: string) => found.filter((one) => one.name === name);

const inventoryIn = (folder: string) => `
servers:
  - { id: 1, name: here, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser} }
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${folder}/shop/orders.sqlite, user: ${ownUser} }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
notification_channels:
  - { id: 1, name: on-call, type: email, email: ops@example.com }
`;

test("finds no problem in a working installation, and leaves nothing behind", async () => {
  const folder = await makeFolder();
  for (const name of ["shop", "copies"]) await mkdir(join(folder, name));
  const mail = await startMailServer();
  onTestFinished(mail.close);
  const found = await check({
    folder,
    inventory: inventoryIn(folder),
    url: await makeDatabase(),
    smtp: `smtp://127.0.0.1:${mail.port}`,
  });
  expect(found.map(({ name, state }) => [name, state])).toEqual(
    [
      "Node",
      "Data folder",
      "Clock",
      "Database",
      "Inventory",
      "Tools on here",
      "Storage disk",
      "Self-backup",
      "Mail",
    ].map((name) => [
      name,
      // Whether this machine's clock is synchronized does not matter here.
      name === "Clock"
        ? expect.stringMatching(/ok|warning/)
        : name === "Self-backup"
          ? "warning"
          : "ok",
    ]),
  );
  // Advice only, because self-backups are not configured.
  expect(of(found, "Self-backup")).toMatchObject([
    { cure: expect.stringContaining("QUARTERDECK_SELF_BACKUP") },
  ]);
  expect(await readdir(join(folder, "copies"))).toEqual([]);
  expect(mail.mails).toEqual([]);
});

test("tests storages by rclone and over SFTP, and reports what the machine lacks for them", async () => {
  const folder = await makeFolder();
  await mkdir(join(folder, "boxed"));
  await writeFile(join(folder, "rclone.conf"), "[box]\ntype = local\n");
  const sshd = await startSshd({ config: "Subsystem sftp internal-sftp" });
  await mkdir(join(sshd.folder, "jail"));
  await chmod(join(sshd.folder, "jail"), 0o777);
  const url = await makeDatabase();
  const inventory = `
storage_providers:
  - { id: 1, name: box, type: rclone, remote: "box:${folder}/boxed", config: file:rclone.conf }
  - { id: 2, name: typo, type: rclone, remote: "bix:", config: file:gone.conf }
  - { id: 3, name: jail, type: sftp, path: ${sshd.folder}/jail, ${sshEntry(sshd).slice(1, -1)} }
  - { id: 4, name: nobody, type: sftp, path: /, ${sshEntry(sshd, null).slice(1, -1)} }
`;
  const found = await check({ folder, inventory, url });
  expect(of(found, "Tools")).toMatchObject([
    { state: "ok", message: expect.stringMatching(/^ssh .*, rclone \d/) },
  ]);
  expect(of(found, "Secrets")).toMatchObject([
    { state: "failed", message: expect.stringContaining("gone.conf cannot be read") },
  ]);
  expect(of(found, "Storage box")).toMatchObject([{ state: expect.stringMatching(/ok|warning/) }]);
  expect(of(found, "Storage typo")).toMatchObject([{ state: "failed" }]);
  expect(of(found, "Storage jail")).toMatchObject([{ state: expect.stringMatching(/ok|warning/) }]);
  expect(of(found, "Storage nobody")).toMatchObject([
    { state: "failed", message: expect.stringContaining("No host key is pinned") },
  ]);
  expect(await readdir(join(folder, "boxed"))).toEqual([]);

  const without = await check({ folder, inventory, url, path: "/nowhere" });
  expect(of(without, "Tools").map(({ cure }) => cure)).toEqual([
    "As root: apt-get install openssh-client",
    "As root: apt-get install rclone",
  ]);
  expect(of(without, "Storage box")).toMatchObject([
    { state: "failed", message: expect.stringContaining("rclone is not installed") },
  ]);
});

test("a storage that does not respond fails alone", async () => {
  const folder = await makeFolder();
  await mkdir(join(folder, "copies"));
  const silent = await listen(createServer());
  const inventory = `
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
  - { id: 2, name: bucket, type: s3, bucket: b, endpoint: "http://127.0.0.1:${silent.port}", access_key: env:KEY, secret_key: env:KEY }
`;
  const url = await makeDatabase();
  const found = await check({ folder, inventory, url, limitMs: 10_000 });
  expect(of(found, "Storage disk")).toMatchObject([{ state: "ok" }]);
  expect(of(found, "Storage bucket")).toMatchObject([
    { state: "failed", message: "There was no result within 10 s." },
  ]);
});

test("reports each error of the inventory with its line", async () => {
  const folder = await makeFolder();
  const inventory = `${inventoryIn(folder)}  - { id: 1, name: twice, type: email, email: ops@example.com }\n`;
  const found = await check({ folder, inventory, url: await makeDatabase() });
  const [mistake] = of(found, "Inventory");
  expect(mistake).toMatchObject({
    state: "failed",
    cure: expect.stringContaining("Correct these lines"),
  });
  expect(mistake?.message).toMatch(/^ {2}line 12: The id 1 is used twice\.$/m);
});

test("reports problems of storages, secrets, tools, servers and mail, each with its fix", async () => {
  const folder = await makeFolder();
  await mkdir(join(folder, "shop"));
  await mkdir(join(folder, "empty"));
  const port = await freePort();
  const inventory = `
servers:
  - { id: 1, name: here, connection: local }
  - { id: 2, name: web-1, connection: { ssh: { host: 127.0.0.1, port: ${port}, user: deploy, key: agent } } }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser} }
databases:
  - { id: 1, server: 1, name: orders, engine: mysql, url: env:SHOP_URL }
  - { id: 2, server: 1, name: blog, engine: mysql, url: "file:${folder}/blog.url" }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies, drill_identity: env:DRILLS }
`;
  const found = await check({
    folder,
    inventory,
    url: await makeDatabase(),
    smtp: `smtp://127.0.0.1:${port}`,
    path: join(folder, "empty"),
  });
  expect(of(found, "Storage disk")).toEqual([
    {
      name: "Storage disk",
      state: "failed",
      message: expect.stringContaining(`${folder}/copies is not there. Create it, mount its disk`),
      cure: null,
    },
  ]);
  expect(of(found, "Secrets").map(({ state, message }) => [state, message])).toEqual([
    ["warning", expect.stringContaining("The environment variable SHOP_URL is not set")],
    ["failed", expect.stringContaining(`The file ${folder}/blog.url cannot be read (ENOENT)`)],
    ["warning", expect.stringContaining("The environment variable DRILLS is not set")],
  ]);
  expect(
    of(found, "Tools on here").map(({ state, message, cure }) => [state, message, cure]),
  ).toEqual([
    [
      "failed",
      "mariadb-dump or mysqldump is missing, and is needed to back up MySQL and MariaDB databases.",
      "As root: apt-get install mariadb-client",
    ],
    [
      "failed",
      "mariadb or mysql is missing, and is needed to restore MySQL and MariaDB databases.",
      "As root: apt-get install mariadb-client",
    ],
    [
      "failed",
      "tar is missing, and is needed to back up sites; it must be GNU tar.",
      "As root: apt-get install tar",
    ],
  ]);
  expect(of(found, "Tools")).toMatchObject([
    { state: "failed", cure: "As root: apt-get install openssh-client" },
  ]);
  expect(of(found, "Server web-1")).toMatchObject([{ state: "failed" }]);
  expect(of(found, "Mail")).toMatchObject([
    { state: "failed", message: `The mail server 127.0.0.1:${port} refused the connection.` },
  ]);
});

test("warns of a mail server that offers no login, although SMTP_URL has one", async () => {
  const mail = await startMailServer({ hasNoLogin: true });
  onTestFinished(() => mail.close());
  const folder = await makeFolder();
  const smtp = `smtp://deck:secret@127.0.0.1:${mail.port}`;
  const found = await check({ folder, inventory: "", url: await makeDatabase(), smtp });
  expect(of(found, "Mail")).toMatchObject([
    {
      state: "warning",
      message: `The mail server 127.0.0.1:${mail.port} responds, but offers no login on this port, so the user and password of SMTP_URL were not tried.`,
    },
  ]);
});

test("reports problems of the data folder and the database, and continues", async () => {
  const folder = await makeFolder();
  const gone = new URL(await makeDatabase());
  gone.pathname = "no_such_database";
  const found = await check({ folder, inventory: "", url: gone.href });
  expect(of(found, "Database")).toMatchObject([
    { state: "failed", message: expect.stringContaining("no_such_database") },
  ]);
  expect(of(found, "Inventory")).toMatchObject([{ state: "ok" }]);
});

test("distinguishes an empty database, and one of an earlier version", async () => {
  const folder = await makeFolder();
  const url = await makeDatabase();
  await withClient({ connectionString: url }, (client) =>
    client.query(
      "delete from drizzle.__drizzle_migrations where created_at = (select max(created_at) from drizzle.__drizzle_migrations)",
    ),
  );
  const stateOf = async () => of(await check({ folder, inventory: "", url }), "Database");
  expect(await stateOf()).toMatchObject([
    { state: "warning", message: expect.stringContaining("schema is one of an earlier version") },
  ]);
  await withClient({ connectionString: url }, (client) =>
    client.query("drop schema drizzle cascade"),
  );
  expect(await stateOf()).toMatchObject([
    { state: "warning", message: expect.stringContaining("has no tables yet") },
  ]);
});

test("checks the tools of servers over SSH, and tests the storage there", async () => {
  const sshd = await startSshd();
  const folder = await makeFolder();
  await mkdir(join(sshd.folder, "copies"));
  // The login account may differ from the account of the tests.
  await chmod(join(sshd.folder, "copies"), 0o777);
  const inventory = `
servers:
  - { id: 1, name: web-1, supervisor: supervisord, connection: ${sshEntry(sshd)} }
sites:
  - { id: 1, server: 1, name: shop, root: ${sshd.folder} }
storage_providers:
  - { id: 1, name: there, type: local, path: ${sshd.folder}/copies, server: 1 }
`;
  const found = await check({ folder, inventory, url: await makeDatabase() });
  expect(of(found, "Tools")).toMatchObject([
    { message: expect.stringMatching(/^ssh \d+\.\d+\.$/) },
  ]);
  expect(of(found, "Tools on web-1")[0]).toMatchObject({
    state: "ok",
    message: expect.stringMatching(/^tar \d+\.\d+/),
  });
  expect(of(found, "Storage there")).toMatchObject([
    { state: "ok", message: expect.stringContaining("takes, returns and deletes a file.") },
  ]);
  expect(await readdir(join(sshd.folder, "copies"))).toEqual([]);
});
