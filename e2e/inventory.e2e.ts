// Tests the editing of the inventory in the browser: each form and its validation, concurrent changes, a change by hand,
// a read-only file. All tests share one service with its own inventory.
import { mkdir, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { portOf } from "../server/testing/port-of.ts";
import { startSshd } from "../server/ssh/testing/sshd.ts";
import { makeMemoryFolder } from "../server/testing/memory-folder.ts";
import { ownUser } from "../server/testing/own-user.ts";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import { expect, test } from "./fixtures.ts";
import {
  connectAs,
  createReadingToken,
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectToast,
} from "./helpers.ts";
import { withoutExtras } from "./without-extras.ts";

const conflict = /409 \(Conflict\)/;
const invalid = /422 \(Unprocessable/;
const secret = "postgres://shop:planted-form-password@127.0.0.1:1/shop";

test.describe.configure({ mode: "serial" });

let folder: string;
let file: string;
let service: ServiceProcess;

test.beforeAll(async () => {
  folder = await realpath(await makeMemoryFolder("quarterdeck-e2e-"));
  file = join(folder, "inventory.yaml");
  await mkdir(join(folder, "shop"));
  await mkdir(join(folder, "copies"));
  await writeFile(
    file,
    `# Kept by hand.\nservers:\n  - { id: 1, name: web-1, connection: local } # the first one\n`,
  );
  service = await startService(folder);
});
test.afterAll(async () => {
  await service.end("SIGINT");
  await rm(folder, { recursive: true, force: true });
});

const text = () => readFile(file, "utf8");

async function open(page: Page, path = ""): Promise<void> {
  await connectAs(page, service.url);
  await page.goto(`${service.url}/settings/inventory${path}`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
}

/** Finds the link in the list, not in the navigation beside it. */
const entryLink = (page: Page, name: string) =>
  page.getByRole("main").getByRole("link", { name, exact: true });
const press = (page: Page, name: string | RegExp) => page.getByRole("button", { name }).click();
/** The pressed button no longer exists; the focus must not fall back to the top of the page. */
const expectHeadingFocused = (page: Page) =>
  expect(page.getByRole("heading", { level: 1 })).toBeFocused();
const fill = (page: Page, label: string, value: string) =>
  page.getByLabel(label, { exact: true }).fill(value);
const expectRefused = (page: Page, label: string, why: string | RegExp) =>
  expect(page.getByLabel(label, { exact: true })).toHaveAccessibleDescription(
    typeof why === "string" ? new RegExp(why) : why,
  );

test("is linked from the settings, and a server is added by keyboard", async ({ page }) => {
  await connectAs(page, service.url);
  await page.goto(`${service.url}/settings`);
  await page.getByRole("link", { name: "Open inventory" }).click();
  await expect(page.getByRole("heading", { name: "Inventory", level: 1 })).toBeFocused();
  await expect(page.getByText(file)).toBeVisible();
  await page.getByRole("link", { name: "New server" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "New server" })).toBeFocused();

  // A server over SSH needs more than a name.
  await press(page, "Add server");
  await expect(page.getByLabel("Name", { exact: true })).toBeFocused();
  await expectRefused(page, "Name", "Enter a name.");
  await expectRefused(page, "Host", "Enter a host name or an address.");
  await expectRefused(page, "User", "Enter the user that logs in.");
  await expectRefused(page, "Private key", "Paste a private key.");
  await expectAccessibleInBoth(page);
  await fill(page, "Name", "db-1");
  await fill(page, "Host", "-oProxyCommand=x");
  await press(page, "Add server");
  await expectRefused(page, "Host", "A host is a name or an address");

  await page.getByLabel("This machine").check();
  await page.getByLabel("Name", { exact: true }).press("Enter");
  await expectToast(page, "status", "db-1 added.");
  await expect(entryLink(page, "db-1")).toBeVisible();
  await page.goBack();
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
  expect(await text()).toContain(
    "connection: local } # the first one\n  - { id: 2, name: db-1, connection: local }\n",
  );
});

test("shows an error of the service at the field of a site", async ({ page, expected }) => {
  expected.push(invalid);
  await open(page, "/sites/new");
  await fill(page, "Name", "shop.example.com");
  await page.getByLabel("Server", { exact: true }).selectOption("web-1");
  await fill(page, "Folder", "shop");
  await press(page, "Add site");
  await expectRefused(page, "Folder", "A path must be absolute");
  await fill(page, "Folder", join(folder, "shop"));
  await fill(page, "User", "no-such-user");
  await press(page, "Add site");
  await expectRefused(page, "User", "This machine has no user “no-such-user”.");
  await expect(page.getByLabel("User", { exact: true })).toBeFocused();
  await fill(page, "User", ownUser);
  await fill(page, "Artisan command", "sh artisan");
  await fill(page, "Before a backup", "php artisan down");
  await fill(page, "Time limit", "30");
  await press(page, "Add site");
  await expectToast(page, "status", "shop.example.com added.");
  expect(await text()).toMatch(/backup_hooks:\s*\{?\s*before: php artisan down,?\s+timeout: 30/);
  // The new site exists at once.
  await page.goto(`${service.url}/sites/1/workers`);
  await expect(page).toHaveTitle(/shop\.example\.com/);
});

test("tests a database before saving it, and never shows its URL again", async ({
  page,
  expected,
}) => {
  expected.push(invalid);
  await open(page, "/databases/new");
  await fill(page, "Name", "shop");
  await page.getByLabel("Server", { exact: true }).selectOption("web-1");
  await press(page, "Test connection");
  await expectRefused(page, "URL to store", "Enter the database's URL.");
  await fill(page, "URL to store", secret);
  await press(page, "Test connection");
  await expect(page.getByText(/Nothing answers at 127\.0\.0\.1:1/)).toBeVisible();
  await fill(page, "Before a backup", "pg-wait queue");
  await fill(page, "User of these commands", "no-such-user");
  await press(page, "Add database");
  await expectRefused(page, "User of these commands", "This machine has no user “no-such-user”.");
  await fill(page, "User of these commands", ownUser);
  await expectAccessible(page);
  await press(page, "Add database");
  await expectToast(page, "status", "shop added.");
  const [name = ""] = await readdir(join(folder, "secrets"));
  expect(await text()).toContain(`url: file:secrets/${name}`);
  expect((await stat(join(folder, "secrets", name))).mode & 0o777).toBe(0o600);

  await entryLink(page, "shop").click();
  await expect(page.getByLabel("URL", { exact: true })).toHaveValue("kept");
  await expect(page.getByText(/It can't be shown/)).toBeVisible();
  await expect(page.getByLabel("URL to store")).toBeHidden();
  const seen = await page.evaluate(() => document.documentElement.outerHTML);
  expect(seen + service.output() + (await text())).not.toContain("planted-form-password");
  // A changed name keeps the secret; a new secret replaces it.
  await fill(page, "Name", "store");
  await press(page, "Save changes");
  await expectToast(page, "status", "store saved.");
  expect(await readdir(join(folder, "secrets"))).toEqual([name]);
  await entryLink(page, "store").click();
  await page.getByLabel("URL", { exact: true }).selectOption("Replace it");
  await fill(page, "URL to store", `${secret}2`);
  await press(page, "Save changes");
  await expect(page.getByRole("heading", { name: "Inventory", level: 1 })).toBeFocused();
  expect(await text()).toMatch(/backup_hooks:\s*\{?\s*before: pg-wait queue,?\s+user: /);
  const [next, ...more] = await readdir(join(folder, "secrets"));
  expect([next === name, more]).toEqual([false, []]);
});

test("cancels a slow test @long", async ({ page }) => {
  const silent = createServer((socket) => void socket.on("error", () => undefined).resume());
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const closed = new Promise((resolve) =>
    silent.once("connection", (socket) => socket.once("close", resolve)),
  );
  await open(page, "/databases/new");
  await fill(page, "Name", "slow");
  await page.getByLabel("Server", { exact: true }).selectOption("web-1");
  await fill(page, "URL to store", `postgres://u:p@127.0.0.1:${portOf(silent)}/d`);
  const connected = once(silent, "connection");
  await press(page, "Test connection");
  await expect(page.getByRole("button", { name: "Testing connection…" })).toBeVisible();
  await connected;
  await press(page, "Cancel test");
  await expect(page.getByRole("button", { name: "Test connection" })).toBeVisible();
  await expectHeadingFocused(page);
  // The service has closed its connection, too.
  await closed;
  silent.close();
});

test("shows errors of a server with a jump host and a drill server at their fields, then saves it @long", async ({
  page,
}) => {
  await open(page, "/servers/new");
  await fill(page, "Name", "far");
  await fill(page, "Host", "127.0.0.1");
  await fill(page, "Port", "1");
  await fill(page, "User", "deploy");
  await page.getByLabel("Key", { exact: true }).selectOption("SSH agent");
  await page.getByLabel("Connect through a jump host").check();
  await page.getByLabel("Run drills on another server").check();
  await page.getByLabel("PostgreSQL URL", { exact: true }).selectOption("Enter it here");
  await page.getByLabel("MySQL URL", { exact: true }).selectOption("Name a variable or file");
  await fill(page, "Jump port", "99999");
  await fill(page, "Jump host key", "MD5:1");
  await fill(page, "Drill user", "no user");
  await fill(page, "MySQL URL reference", "mysql://plain");
  await page.getByText("Time zone, supervisord and ssh_config").click();
  await fill(page, "SSH configuration", "ssh_config");
  await fill(page, "supervisord configuration", "supervisord.conf");
  await press(page, "Add server");
  await expectRefused(page, "Jump host", "Enter a host name or an address.");
  await expectRefused(page, "Jump port", /65535|65,535/);
  await expectRefused(page, "Jump user", "Enter the user that logs in.");
  await expectRefused(page, "Jump private key", "Paste a private key.");
  await expectRefused(page, "Jump host key", "A host key is its fingerprint");
  await expectRefused(page, "Drill server", "Choose a server.");
  await expectRefused(page, "Drill user", "A user is an account's name");
  await expectRefused(page, "PostgreSQL URL to store", "Enter the server's URL.");
  await expectRefused(page, "MySQL URL reference", "A secret must be");
  await expectRefused(page, "SSH configuration", "A path must be absolute");
  await expectRefused(page, "supervisord configuration", "A path must be absolute");
  await expectAccessibleInBoth(page);
  await expectNoSidewaysScroll(page);

  await fill(page, "Jump host", "127.0.0.1");
  await fill(page, "Jump port", "2");
  await fill(page, "Jump user", "gate");
  await fill(page, "Jump host key", `SHA256:${"a".repeat(43)}`);
  await page.getByLabel("Jump key", { exact: true }).selectOption("SSH agent");
  await page.getByLabel("Drill server").selectOption("web-1");
  await fill(page, "Drill user", ownUser);
  await fill(page, "PostgreSQL URL to store", secret);
  await page.getByLabel("MySQL URL", { exact: true }).selectOption("None");
  await fill(page, "SSH configuration", join(folder, "ssh_config"));
  await fill(page, "supervisord configuration", "/srv/supervisord.conf");
  await press(page, "Add server");
  await expectToast(page, "status", "far added.");
  const entry = async () => {
    const { servers } = await (await service.call("GET", "/api/inventory")).json();
    return servers.find(({ name }: { name: string }) => name === "far");
  };
  const stored = expect.stringMatching(/^file:secrets\/servers-\d+-/);
  expect(await entry()).toMatchObject({
    connection: {
      ssh: {
        jump: {
          host: "127.0.0.1",
          port: 2,
          user: "gate",
          key: "agent",
          host_key: `SHA256:${"a".repeat(43)}`,
        },
        config: join(folder, "ssh_config"),
      },
    },
    supervisord_config: "/srv/supervisord.conf",
    drills: { server: 1, user: ownUser, postgres: stored },
  });
  expect((await entry()).drills).not.toHaveProperty("mysql");
  expect(await text()).not.toContain("planted-form-password");

  // The form shows the present values, and clearing a field removes its value.
  await entryLink(page, "far").click();
  await expect(page.getByLabel("Jump user")).toHaveValue("gate");
  await expect(page.getByLabel("Drill server")).toHaveValue("1");
  await expect(page.getByLabel("PostgreSQL URL", { exact: true })).toHaveValue("kept");
  await page.getByLabel("Drill server").selectOption("Quarterdeck's machine");
  await press(page, "Save changes");
  await expectToast(page, "status", "far saved.");
  expect(await entry()).toMatchObject({ drills: { server: "local", postgres: stored } });
  await entryLink(page, "far").click();
  await page.getByLabel("Connect through a jump host").uncheck();
  await page.getByLabel("Run drills on another server").uncheck();
  await press(page, "Save changes");
  // The toast of the previous save may still be shown.
  await expect.poll(entry).not.toHaveProperty("drills");
  expect((await entry()).connection.ssh).not.toHaveProperty("jump");
  const { version } = await (await service.call("GET", "/api/inventory")).json();
  const { id } = await entry();
  await service.call("DELETE", `/api/inventory/servers/${id}?version=${version}`);
  await expect.poll(entry).toBeUndefined();
});

test("the test of a storage provider writes, reads and deletes a file", async ({ page }) => {
  await open(page, "/storage-providers/new");
  await page.getByLabel("S3-compatible").check();
  await press(page, "Add storage provider");
  await expectRefused(page, "Bucket", "Enter the bucket's name.");
  await expectRefused(page, "Secret key to store", "Enter the secret key.");
  await page.getByLabel("Folder", { exact: true }).first().check();
  await fill(page, "Name", "disk");
  const path = page.getByRole("textbox", { name: "Folder" });
  await path.fill(join(folder, "nowhere"));
  await press(page, "Test storage");
  await expect(page.getByText(/nowhere/).last()).toBeVisible();
  await path.fill(join(folder, "copies"));
  const identity = await generateX25519Identity();
  const recipients = page.getByRole("textbox", { name: "Recipients" });
  const recipient = await identityToRecipient(identity);
  await recipients.fill(`${recipient}\nage1typo`);
  await press(page, "Add storage provider");
  await expectRefused(page, "Recipients", /A recipient is a public key of age/);
  await recipients.fill(`${recipient.slice(0, -1)}${recipient.endsWith("q") ? "p" : "q"}`);
  await press(page, "Add storage provider");
  await expectRefused(page, "Recipients", /The checksum of this public key/);
  await recipients.fill(recipient);
  await page.getByLabel("Drill identity", { exact: true }).selectOption("Enter it here");
  await fill(page, "Drill identity to store", await generateX25519Identity());
  await press(page, "Test storage");
  await expect(page.getByText(/its public key is none of the recipients/)).toBeVisible();
  await fill(page, "Drill identity to store", identity);
  await press(page, "Test storage");
  await expect(page.getByText(/was written to .+ read back and deleted/)).toBeVisible();
  await press(page, "Add storage provider");
  await expectToast(page, "status", "disk added.");
  expect(await text()).toMatch(/recipients:\n +- age1/);
  expect(await text()).not.toContain(identity);

  // Saving keeps values that the form does not show.
  await entryLink(page, "disk").click();
  await fill(page, "Name", "sealed");
  await press(page, "Save changes");
  await expectToast(page, "status", "sealed saved.");
  expect(await text()).toMatch(/recipients:\n +- age1/);
  expect(await text()).toMatch(/drill_identity: file:secrets\//);
});

test("tests a remote of rclone, and saves it with the pasted config @long", async ({ page }) => {
  await open(page, "/storage-providers/new");
  await page.getByLabel("rclone", { exact: true }).check();
  await fill(page, "Name", "box");
  await fill(page, "Remote", ":sftp,host=a:");
  await press(page, "Add storage provider");
  await expectRefused(page, "Remote", /A remote is a name of rclone's config file/);
  await fill(page, "Remote", `box:${join(folder, "copies")}`);
  await page.getByLabel("rclone config", { exact: true }).selectOption("Enter it here");
  const config = page.getByRole("textbox", { name: "rclone config to store" });
  await config.fill("type = local");
  await press(page, "Add storage provider");
  await expectRefused(page, "rclone config to store", /starts with “\[name\]” of a remote/);
  await config.fill("[box]\ntype = local\n");
  await press(page, "Test storage");
  await expect(
    page.getByText(/was written to rclone remote box:.+ read back and deleted/),
  ).toBeVisible();
  await press(page, "Add storage provider");
  await expectToast(page, "status", "box added.");
  expect(await text()).toMatch(/type: rclone[^]*config: file:secrets\//);
  await expect(
    page.getByRole("main").getByText("Config: Stored in a file").filter({ visible: true }),
  ).toBeVisible();
});

test("tests a login over SFTP, confirms its host key, and saves it @long", async ({ page }) => {
  const cleanUps: (() => unknown)[] = [];
  const sshd = await startSshd({
    cleanUp: (work) => void cleanUps.push(work),
    config: "Subsystem sftp internal-sftp\nForceCommand internal-sftp",
  });
  try {
    await open(page, "/storage-providers/new");
    await page.getByLabel("SFTP", { exact: true }).check();
    await fill(page, "Name", "jail");
    await page.getByRole("textbox", { name: "Folder" }).fill(join(folder, "copies"));
    await press(page, "Add storage provider");
    await expectRefused(page, "Host", "Enter a host name or an address.");
    await expectRefused(page, "Private key", "Paste a private key.");
    await fill(page, "Host", "127.0.0.1");
    await fill(page, "Port", String(sshd.port));
    await fill(page, "User", ownUser);
    await fill(page, "Private key", await readFile(sshd.keyFile, "utf8"));
    await press(page, "Test storage");
    await expect(page.getByText(sshd.fingerprint).last()).toBeVisible();
    await fill(page, "Host key", sshd.fingerprint);
    await press(page, "Test storage");
    await expect(
      page.getByText(/was written to .+ on 127\.0\.0\.1.+ read back and deleted/),
    ).toBeVisible();
    await press(page, "Add storage provider");
    await expectToast(page, "status", "jail added.");
    expect(await text()).toMatch(/type: sftp[^]*key: file:secrets\//);
    await entryLink(page, "jail").click();
    await expect(page.getByLabel("Host", { exact: true })).toHaveValue("127.0.0.1");
    await fill(page, "Name", "cell");
    await press(page, "Save changes");
    await expectToast(page, "status", "cell saved.");
    expect(await text()).toMatch(
      new RegExp(`host_key: "?${sshd.fingerprint.replace(/[+]/g, "[+]")}`),
    );
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
});

test("validates a channel's address, and reports a missing one in its test", async ({ page }) => {
  await open(page, "/notification-channels/new");
  await fill(page, "Name", "ops");
  await press(page, "Add notification channel");
  await expectRefused(page, "Webhook URL to store", /incoming webhook of Slack/);
  await page.getByLabel("Webhook URL", { exact: true }).selectOption("Name a variable or file");
  await fill(page, "Webhook URL reference", "https://hooks.slack.com/services/x");
  await press(page, "Add notification channel");
  await expectRefused(page, "Webhook URL reference", "must be “env:NAME” or “file:PATH”");
  await fill(page, "Webhook URL reference", "env:OPS_SLACK");
  await press(page, "Send test message");
  await expect(page.getByText(/OPS_SLACK is not set/)).toBeVisible();
  await page.getByLabel("Email", { exact: true }).check();
  await fill(page, "Email address", "nobody");
  await press(page, "Add notification channel");
  await expectRefused(page, "Email address", /./);
  await fill(page, "Email address", "ops@example.com");
  await press(page, "Add notification channel");
  await expectToast(page, "status", "ops added.");
});

test("shows a concurrent change to the second user, who decides which one to keep", async ({
  page,
  context,
  expected,
}) => {
  expected.push(conflict);
  const other = await context.newPage();
  await open(page, "/servers/2/edit");
  await open(other, "/servers/1/edit");
  await fill(other, "Name", "web-one");
  await press(other, "Save changes");
  await expectToast(other, "status", "web-one saved.");

  await fill(page, "Name", "db-one");
  await press(page, "Save changes");
  const notice = page.getByRole("alert").filter({ hasText: "Somebody changed" });
  await expect(notice).toContainText("+  - { id: 1, name: web-one, connection: local }");
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await notice.getByRole("button", { name: "Keep my changes" }).click();
  await expect(notice).toBeHidden();
  await expectHeadingFocused(page);
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("db-one");
  await press(page, "Save changes");
  await expectToast(page, "status", "db-one saved.");
  expect(await text()).toMatch(/name: web-one[^]+name: db-one/);
  await other.close();
});

test("shows a change by hand, and takes it over on reload", async ({ page, expected }) => {
  expected.push(conflict);
  await open(page, "/servers/2/edit");
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("db-one");
  await writeFile(file, (await text()).replace("name: db-one", "name: db-by-hand"));
  await fill(page, "Name", "db-typed");
  await press(page, "Save changes");
  const notice = page.getByRole("alert").filter({ hasText: "Somebody changed" });
  await expect(notice).toContainText("name: db-by-hand");
  await press(page, "Reload and discard my changes");
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("db-by-hand");
  await expect(notice).toBeHidden();
  await expectHeadingFocused(page);
  expect(await text()).toContain("name: db-by-hand");
});

test("refuses to remove an entry in use, and removes an unused one", async ({
  page,
  context,
  expected,
}) => {
  expected.push(conflict);
  const other = await context.newPage();
  await open(other, "/servers/2/edit");
  await fill(other, "Name", "db-typed");
  await open(page);
  await press(page, "Remove web-one");
  const question = page.getByRole("alertdialog");
  await question.getByRole("button", { name: "Remove server" }).click();
  await expect(question).toContainText("site 1 (shop.example.com), database 1 (store) use it");
  await question.getByRole("button", { name: "Cancel" }).click();
  await press(page, "Remove db-by-hand");
  await question.getByRole("button", { name: "Remove server" }).click();
  await expectToast(page, "status", "db-by-hand removed.");
  await expect(entryLink(page, "db-by-hand")).toBeHidden();
  await press(other, "Save changes");
  await expect(other.getByRole("form").getByRole("alert")).toContainText("deleted meanwhile");
  await expect(other.getByLabel("Name", { exact: true })).toHaveValue("db-typed");
  await other.close();
  expect(await text()).toContain("# Kept by hand.\nservers:\n  - { id: 1, name: web-one");
  await page.goto(`${service.url}/activity`);
  await expect(page.getByText("db-by-hand").first()).toBeVisible();
});

test("shows an error in the file with its line @long", async ({ page }) => {
  const before = await text();
  await writeFile(file, `${before}sitez: []\n`);
  await open(page);
  await expect(page.getByText(/line \d+: Unknown field “sitez”/)).toBeVisible();
  await writeFile(file, before);
});

test("fits a phone, and is accessible in light and dark @long", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  for (const path of ["", "/servers/new", "/databases/1/edit", "/sites/1/edit"]) {
    await open(page, path);
    await expectNoSidewaysScroll(page);
    await expectAccessibleInBoth(page);
  }
});

test("a long name without spaces fits the page @long", async ({ page }) => {
  const before = await text();
  const name = "a_name_of_as_many_characters_as_one_may_have_in_the_inventory_"
    .repeat(2)
    .slice(0, 99);
  const entries = `
servers: [{ id: 1, name: ${name}, connection: local }]
sites: [{ id: 1, server: 1, name: ${name}, root: ${folder}/shop, databases: [1] }]
databases: [{ id: 1, server: 1, name: ${name}, engine: sqlite, path: ${folder}/shop.sqlite }]
storage_providers: [{ id: 1, name: ${name}, type: local, path: ${folder}/copies }]
`;
  await writeFile(file, entries);
  await page.setViewportSize({ width: 360, height: 740 });
  await open(page, "/sites/1/edit");
  await expect(page.getByLabel(name, { exact: true })).toBeChecked();
  await expectNoSidewaysScroll(page);
  await open(page, "/storage-providers/1/adopt");
  await expect(page.getByText(/^Lists the backups in a_name_/)).toBeVisible();
  await expectNoSidewaysScroll(page);
  await writeFile(file, before);
});

test("is offered only to tokens with all permissions, and by services that support it @long", async ({
  page,
  expected,
}) => {
  expected.push(/403 \(Forbidden\)/, /404 \(Not Found\)/);
  await connectAs(page, service.url, await createReadingToken(service));
  await page.goto(`${service.url}/settings`);
  await expect(page.getByRole("heading", { name: "Device" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Open inventory" })).toBeHidden();
  await page.goto(`${service.url}/settings/inventory`);
  await expect(page.getByRole("heading", { level: 1 })).not.toContainText("Inventory");
  const foreign = await withoutExtras(service.url, "showInventory");
  await connectAs(page, foreign.url);
  await page.goto(`${foreign.url}/settings`);
  await expect(page.getByRole("link", { name: "New token" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Open inventory" })).toBeHidden();
  // The page would request the service that stops.
  await page.goto("about:blank");
  await foreign.close();
});

test("shows the lines to paste when the file is read-only @long", async ({
  page,
  context,
  expected,
}) => {
  expected.push(conflict);
  await service.end("SIGINT");
  service = await startService(folder, { QUARTERDECK_INVENTORY_READONLY: "1" });
  const before = await text();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, "/servers/new");
  await expect(page.getByText(/QUARTERDECK_INVENTORY_READONLY is set/)).toBeVisible();
  await fill(page, "Name", "web-3");
  await page.getByLabel("This machine").check();
  await press(page, "Show lines");
  // Ids are not reused; the server behind a jump host had 3.
  const lines = "servers:\n  - { id: 4, name: web-3, connection: local }\n";
  await expect(page.getByRole("figure", { name: "Lines for the inventory" })).toHaveText(lines);
  await expectAccessible(page);
  await press(page, "Copy lines for the inventory");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(lines);
  expect(await text()).toBe(before);
});
