import { rm } from "node:fs/promises";
import type { Page } from "@playwright/test";
import type { NewToken } from "../contract/tokens.ts";
import { toTimestamp } from "../contract/values.ts";
import { fileURLToPath } from "node:url";
import {
  hasPostgresServer,
  startPostgresServer,
} from "../server/backups/testing/postgres-server.ts";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import { makeMemoryFolder } from "../server/testing/memory-folder.ts";
import { palette } from "../tailwind.config.ts";
import { expect, test } from "./fixtures.ts";
import {
  connectAs,
  expectAccessible,
  expectAccessibleInBoth,
  expectNoSidewaysScroll,
  expectRow,
  expectToast,
} from "./helpers.ts";
import { withoutExtras } from "./without-extras.ts";

const refused = /401 \(Unauthorized\)/;
const forbidden = /403 \(Forbidden\)/;

const makeToken = async (service: ServiceProcess, body: object): Promise<NewToken> =>
  (await service.call("POST", "/api/tokens", body)).json();

/** Returns the status of the response to a request with this token. */
const statusWith = async (service: ServiceProcess, token: string, path: string, method = "GET") =>
  (await fetch(service.url + path, { method, headers: { Authorization: `Bearer ${token}` } }))
    .status;

/** Returns a color of the design as a browser's computed style. */
const rgbOf = (hex: string) =>
  `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(", ")})`;

/** Connects a page with the given token. */
async function openWith(page: Page, service: ServiceProcess, token: string): Promise<void> {
  await connectAs(page, service.url, token);
  await page.goto(service.url);
  await page.getByRole("link", { name: "Settings" }).first().click();
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeFocused();
}

const rowOf = (page: Page, name: string) =>
  page
    .getByRole("row")
    .filter({ has: page.getByRole("button", { name: `Revoke ${name}`, exact: true }) });

test("a token is created, shown once, not left without a confirmation, and has the selected permissions", async ({
  connected: page,
  service,
}) => {
  await page.goto(`${service.url}/settings`);
  await page.getByRole("link", { name: "New token" }).click();
  await page.getByRole("button", { name: "Create token" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toBeFocused();
  await expect(page.getByLabel("Name", { exact: true })).toHaveAccessibleDescription(/required/);
  await page.getByLabel("Name", { exact: true }).fill("screen on the wall");
  await page.getByLabel("Some servers").check();
  await page.getByRole("button", { name: "Create token" }).click();
  await expectToast(page, "alert", "Choose at least one server.");
  await expectAccessible(page);
  await page.getByRole("main").getByLabel("web-1").check();
  await page.getByLabel("Expires").selectOption("In 30 days");
  await page.getByRole("button", { name: "Create token" }).click();

  await expect(page.getByRole("heading", { name: "Token created" })).toBeFocused();
  const secret = (await page.getByRole("code").textContent()) ?? "";
  expect(secret).toMatch(/^\d+\|qd_\w{48}$/);
  await expectAccessible(page);
  expect(await statusWith(service, secret, "/api/server/1")).toBe(200);
  expect(await statusWith(service, secret, "/api/server/1/backup-configuration", "POST")).toBe(403);

  await page.getByRole("link", { name: "Back to settings" }).click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("Leave without the token?");
  await question.getByRole("button", { name: "Stay" }).click();
  await page.getByLabel("I have stored the token").check();
  await page.getByRole("link", { name: "Back to settings" }).click();
  const row = rowOf(page, "screen on the wall");
  await expectRow(row, "screen on the wall", "Read", "web-1", "in 29 days");
  await page.goBack();
  await expectRow(row, "screen on the wall", "Read", "web-1", "in 29 days");
  const kept = await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]));
  expect(kept + (await page.content())).not.toContain(secret.split("|")[1]);
});

test("refuses a revoked token at once, and disconnects when the current one is revoked", async ({
  page,
  service,
  expected,
}) => {
  expected.push(refused);
  const other = await makeToken(service, { name: "old pipeline", abilities: ["*"] });
  const own = await makeToken(service, { name: "my laptop", abilities: ["*"] });
  await openWith(page, service, own.token);
  await expect(rowOf(page, "my laptop")).toContainText("In use");
  await expect(rowOf(page, "old pipeline")).not.toContainText("In use");

  await page.getByRole("button", { name: "Revoke old pipeline" }).click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("Everything that uses old pipeline loses access");
  await expect(question).not.toContainText("disconnected");
  await question.getByRole("button", { name: "Revoke token" }).click();
  await expectToast(page, "status", "old pipeline revoked.");
  await expect(rowOf(page, "old pipeline")).toBeHidden();
  expect(await statusWith(service, other.token, "/api/servers")).toBe(401);

  await page.getByRole("button", { name: "Revoke QUARTERDECK_TOKEN" }).click();
  await expect(question).toContainText("the next start restores the token");
  await expectAccessible(page);
  await question.getByRole("button", { name: "Cancel" }).click();

  await page.getByRole("button", { name: "Revoke my laptop" }).click();
  await expect(question).toContainText(
    "This is the token you are using. You will be disconnected.",
  );
  await question.getByRole("button", { name: "Revoke token" }).click();
  await expect(page.getByRole("heading", { name: "Connect" })).toBeVisible();
  expect(await page.evaluate(() => sessionStorage.length + localStorage.length)).toBe(0);
  expect(await statusWith(service, own.token, "/api/servers")).toBe(401);
});

test("shows which permission managing tokens needs, and the rest of the page @long", async ({
  page,
  service,
  expected,
}) => {
  expected.push(forbidden);
  for (const limits of [{ abilities: ["read"] }, { abilities: ["*"], server_ids: [1] }]) {
    const { token } = await makeToken(service, { name: "limited", ...limits });
    await openWith(page, service, token);
    await expect(page.getByText(/a token that has full access to all servers/)).toBeVisible();
    await expect(page.getByRole("link", { name: "New token" })).toBeHidden();
    await page.goto(`${service.url}/settings/tokens/new`);
    await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
    await expect(page.getByRole("radio", { name: "Dark" })).toBeVisible();
  }
  await expectAccessible(page);

  await page.getByRole("button", { name: "Remember on this device" }).last().click();
  await expect(page.getByText("Until you disconnect")).toBeVisible();
  expect(await page.evaluate(() => [sessionStorage.length, localStorage.length])).toEqual([0, 1]);
  await page.getByRole("button", { name: "Forget device" }).click();
  await expect(page.getByText("Until you close the last tab")).toBeVisible();
  expect(await page.evaluate(() => [sessionStorage.length, localStorage.length])).toEqual([1, 0]);
  await page.getByRole("main").getByRole("button", { name: "Disconnect" }).click();
  await expect(page.getByRole("heading", { name: "Connect" })).toBeVisible();
});

test("keeps the selected theme on every page from its first frame on, and in other tabs", async ({
  connected: page,
  service,
}) => {
  await page.emulateMedia({ colorScheme: "dark" });
  // Records the background color of every frame, beginning before the page's own scripts.
  await page.addInitScript(() => {
    const seen = new Set<string>();
    const look = () => {
      seen.add(getComputedStyle(document.documentElement).backgroundColor);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    Object.assign(globalThis, { colorsSeen: seen });
  });
  const colorsSeen = (): Promise<string[]> =>
    page.evaluate(() => [...Reflect.get(globalThis, "colorsSeen")]);
  const light = rgbOf(palette.canvas[0]);
  const dark = rgbOf(palette.canvas[1]);

  await page.goto(`${service.url}/settings`);
  await expect(page.getByRole("radio", { name: "System" })).toBeChecked();
  expect(await colorsSeen()).toEqual([dark]);
  await page.getByRole("radio", { name: "System" }).focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("radio", { name: "Light" })).toBeChecked();
  await expect(page.locator("html")).toHaveCSS("background-color", light);
  await expectAccessible(page);
  await page.reload();
  await expect(page.getByRole("radio", { name: "Light" })).toBeChecked();
  expect(await colorsSeen()).toEqual([light]);

  const other = await page.context().newPage();
  await other.goto(`${service.url}/connect`);
  await expect(other.locator("html")).toHaveCSS("background-color", light);
  await page.getByRole("radio", { name: "Dark" }).check();
  await expect(other.locator("html")).toHaveCSS("background-color", dark);

  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 360, height: 740 });
  await page.reload();
  await expect(page.getByRole("radio", { name: "Dark" })).toBeChecked();
  expect(await colorsSeen()).toEqual([dark]);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  // Print uses the light theme.
  const heading = page.getByRole("heading", { level: 1 });
  await page.emulateMedia({ media: "print" });
  await expect(heading).toHaveCSS("color", rgbOf(palette.ink[0]));
  await page.emulateMedia({ media: "screen" });
  await expect(heading).toHaveCSS("color", rgbOf(palette.ink[1]));
  await page.getByRole("radio", { name: "System" }).check();
  await expect(page.locator("html")).toHaveCSS("background-color", light);
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
});

test("offers a token that expires no later expiry than its own for a new one @long", async ({
  page,
  service,
}) => {
  const expires_at = toTimestamp(new Date(Date.now() + 40 * 24 * 3600 * 1000));
  const guest = await makeToken(service, { name: "guest", abilities: ["*"], expires_at });
  await openWith(page, service, guest.token);
  await page.getByRole("link", { name: "New token" }).click();
  await page.getByLabel("Name", { exact: true }).fill("child of guest");
  const ends = page.getByLabel("Expires");
  await expect(ends.getByRole("option")).toHaveText([
    "With the current token",
    "In 7 days",
    "In 30 days",
  ]);
  await expect(ends).toHaveAccessibleDescription(/with the token you are using/);
  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByLabel("I have stored the token").check();
  await page.getByRole("link", { name: "Back to settings" }).click();
  await expectRow(rowOf(page, "child of guest"), "in 39 days");
});

test("shows whether sites are isolated from the service, and nothing if that is unknown @long", async ({
  connected: page,
  service,
  expected,
}) => {
  const isRoot = process.getuid?.() === 0;
  await page.goto(`${service.url}/settings`);
  const panel = page.getByRole("region", { name: "Installation" });
  await expect(panel).toContainText(isRoot ? "Runs asroot" : "Sites share Quarterdeck");
  await expectAccessibleInBoth(page);

  expected.push(/404 \(Not Found\)/);
  const other = await withoutExtras(service.url, "showInstallation");
  await connectAs(page, other.url);
  await page.goto(`${other.url}/settings`);
  await expect(page.getByRole("radio", { name: "Dark" })).toBeVisible();
  await expect(panel).toBeHidden();
  await page.goto("about:blank");
  // Leaves the page, so that it sends no requests to the stopped service.
  await page.goto("about:blank");
  await other.close();
});

test("shows an ordinary account what a site's code could access @long", async ({ page }) => {
  test.skip(!hasPostgresServer, "needs Debian's PostgreSQL");
  const folder = await makeMemoryFolder("quarterdeck-shared-");
  const postgres = await startPostgresServer();
  await postgres.createDatabase("shared");
  const program = fileURLToPath(new URL("../server/testing/shared-account.ts", import.meta.url));
  const database = { DATABASE_URL: postgres.url("shared") };
  const service = await startService(folder, database, [program]);
  try {
    await connectAs(page, service.url);
    await page.goto(`${service.url}/settings`);
    const panel = page.getByRole("region", { name: "Installation" });
    await expect(panel.getByRole("heading", { name: /Sites share/ })).toBeVisible();
    await expect(panel).toContainText("Quarterdeck and the code of every site run as deploy");
    await expect(panel.getByRole("link", { name: /Access of a site/ })).toBeVisible();
    await expectAccessibleInBoth(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectNoSidewaysScroll(page);
    await page.goto("about:blank");
  } finally {
    await service.end("SIGINT");
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

test("shows the account of the service and checks the installation, with problems and their fixes first", async ({
  connected: page,
  service,
}) => {
  await service.changeInventory(({ storage_providers: providers }) =>
    providers.push(`{ id: 99, name: unplugged, type: local, path: /proc/quarterdeck/away }`),
  );
  await page.goto(`${service.url}/settings`);
  await expect(page.getByRole("region", { name: "Installation" })).toContainText(
    process.getuid?.() === 0 ? "Runs asroot" : "Sites share Quarterdeck",
  );
  await page.getByRole("button", { name: "Check installation" }).click();
  const results = page.getByRole("list", { name: "Results" });
  await expect(results.getByRole("listitem").first()).toContainText("failed");
  await expect(results.getByRole("listitem").filter({ hasText: "unplugged" })).toContainText(
    "/proc/quarterdeck/away",
  );
  await expect(results).toContainText("PostgreSQL");
  await expectAccessible(page);
  await service.changeInventory(({ storage_providers: providers }) => providers.pop());
});
