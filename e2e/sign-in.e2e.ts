// Tests sign-in links: the one-time code of a first start, and tokens, with and without an existing session.
import { rm } from "node:fs/promises";
import type { Page } from "@playwright/test";
import type { NewToken } from "../contract/tokens.ts";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import { makeMemoryFolder } from "../server/testing/memory-folder.ts";
import { expect, test as base } from "./fixtures.ts";
import { connectAs, expectAccessible, expectNoSidewaysScroll } from "./helpers.ts";

/** Console message of a refusal that a test provokes. */
const refused = /status of (401|422)/;

const test = base.extend<{ fresh: { service: ServiceProcess; code: string } }>({
  fresh: async ({ context }, provide) => {
    const folder = await makeMemoryFolder("quarterdeck-first-");
    const service = await startService(folder, { QUARTERDECK_TOKEN: "" });
    await expect.poll(service.output).toMatch(/#code=\w+\n/);
    await provide({ service, code: /#code=(\w+)/.exec(service.output())?.[1] ?? "" });
    // An open page would send requests to the stopped service.
    for (const page of context.pages()) await page.goto("about:blank");
    await service.end("SIGINT");
    await rm(folder, { recursive: true, force: true });
  },
});

const connectPage = (page: Page) => page.getByRole("heading", { name: "Connect" });
/** Filters by text, because error toasts are alerts, too. */
const noticeOf = (page: Page) =>
  page.getByRole("alert").filter({ hasText: /sign in with the link|You are (already )?signed in/ });
const kept = (page: Page) => page.evaluate(() => JSON.stringify([sessionStorage, localStorage]));
/** Returns the stored session without the cached responses beside it. */
const keptSession = async (page: Page): Promise<unknown[]> =>
  JSON.parse(await kept(page)).map(
    (storage: Record<string, string>) => storage["quarterdeck.session"],
  );

const makeToken = async (service: ServiceProcess, name: string): Promise<NewToken> =>
  (await service.call("POST", "/api/tokens", { name, abilities: ["*"] })).json();

test("the link of a first start signs in once, and its code is removed from the URL at once", async ({
  page,
  fresh: { service, code },
  expected,
}) => {
  expected.push(refused);
  const asked: string[] = [];
  const addresses: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  // Records the URL of each document at `DOMContentLoaded`, by which the code must be gone.
  await page.exposeFunction("tellAddress", (address: string) => addresses.push(address));
  await page.addInitScript(() => {
    addEventListener("DOMContentLoaded", () => {
      Reflect.get(globalThis, "tellAddress")(location.href);
    });
  });
  await page.goto(`${service.url}/#code=${code}`);
  await expect(page.getByText("Connected until you close the last tab.")).toContainText(
    "The link works only once",
  );
  await expect(page).toHaveURL(`${service.url}/`);
  expect(addresses).toEqual([`${service.url}/`]);
  expect(asked.join(" ")).not.toContain(code);
  expect(await kept(page)).not.toContain(code);
  await expectAccessible(page);
  expect(service.output()).not.toContain(JSON.parse(await kept(page))[0]["quarterdeck.session"]);

  const other = await page.context().newPage();
  await other.goto(`${service.url}/#code=${code}`);
  await expect(connectPage(other)).toBeVisible();
  await expect(other.getByRole("alert")).toContainText(
    "Couldn't sign in with the link. The code has already been used. Each code works once.",
  );
  await expect(other).toHaveURL(`${service.url}/connect`);
  await expectAccessible(other);
  await other.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(other);
});

test("of two tabs that open one link at once, exactly one is signed in, and the other one shows why not @long", async ({
  page,
  fresh: { service, code },
  expected,
}) => {
  expected.push(refused);
  const pages = [page, await page.context().newPage()];
  await Promise.all(pages.map((one) => one.goto(`${service.url}/#code=${code}`)));
  for (const one of pages)
    await expect(one.getByText(/Connected until|The code has already been used/)).toBeVisible();
  const winners = [];
  for (const one of pages) if (!(await connectPage(one).isVisible())) winners.push(one);
  expect(winners).toHaveLength(1);
});

test("an unknown code leads to the connect page with the reason, where the right one still works @long", async ({
  page,
  fresh: { service, code },
  expected,
}) => {
  expected.push(refused);
  await page.goto(`${service.url}/settings#code=nonsense`);
  await expect(connectPage(page)).toBeVisible();
  await expect(page.getByRole("alert")).toContainText("Unknown code.");
  await expect(page).toHaveURL(`${service.url}/connect?from=%2Fsettings`);
  // A link pasted into the same tab does not reload the page.
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `code=${code}`);
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
  await expect(page).toHaveURL(`${service.url}/settings`);
  await expect(page.getByRole("row").filter({ hasText: "First sign-in" })).toContainText("In use");
});

test("an invalid link never ends a valid session, and shows that it did not work", async ({
  connected: page,
  service,
  expected,
}) => {
  expected.push(refused);
  const before = await keptSession(page);
  await page.goto(`${service.url}/#token=nonsense`);
  const notice = noticeOf(page);
  await expect(notice).toContainText("Couldn't sign in with the link. The token of the link is");
  await expect(notice).toContainText("You are still signed in.");
  await expect(page).toHaveURL(`${service.url}/`);
  await expectAccessible(page);
  await notice.getByRole("button", { name: "Dismiss" }).click();
  await expect(notice).toBeHidden();

  await page.goto(`${service.url}/activity#code=nonsense`);
  await expect(notice).toContainText("You are signed in as QUARTERDECK_TOKEN.");
  await notice.getByRole("button", { name: "Use the link" }).click();
  await expect(notice).toContainText("Unknown code.");
  await expect(notice).toContainText("You are still signed in.");
  expect(await keptSession(page)).toEqual(before);
  await page.reload();
  await expect(page.getByRole("heading", { name: "Activity", level: 1 })).toBeVisible();
  await expect(notice).toBeHidden();
});

test("a refused token leads to the connect page with the reason, and is not stored @long", async ({
  page,
  service,
  expected,
}) => {
  expected.push(refused);
  await page.goto(`${service.url}/activity#token=nonsense`);
  await expect(connectPage(page)).toBeVisible();
  await expect(noticeOf(page)).toContainText("The token of the link is");
  await expect(page).toHaveURL(`${service.url}/connect?from=%2Factivity`);
  expect(await page.evaluate(() => sessionStorage.length + localStorage.length)).toBe(0);
  await page.getByLabel("Token").fill(service.token);
  await page.getByRole("button", { name: "Connect" }).click();
  await expect(page.getByRole("heading", { name: "Activity", level: 1 })).toBeVisible();
  await expect(noticeOf(page)).toBeHidden();
});

test("a valid link asks before it replaces another session @long", async ({ page, service }) => {
  const mine = await makeToken(service, "my laptop");
  const ops = await makeToken(service, "ops");
  await connectAs(page, service.url, mine.token);
  const link = `${service.url}/settings#token=${encodeURIComponent(ops.token)}`;
  const notice = noticeOf(page);
  const used = page.getByRole("row").filter({ hasText: "In use" });

  await page.goto(link);
  await expect(notice).toContainText("You are signed in as my laptop. Switch to ops?");
  await expect(page).toHaveURL(`${service.url}/settings`);
  await expect(used).toContainText("my laptop");
  await expectAccessible(page);
  await notice.getByRole("button", { name: "Stay signed in" }).click();
  await expect(notice).toBeHidden();
  expect(await kept(page)).not.toContain(ops.token);

  await page.goto(link);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await notice.getByRole("button", { name: "Switch to ops" }).click();
  await expect(used).toContainText("ops");
  await expect(used).toHaveCount(1);
  await expect(notice).toBeHidden();
  await page.reload();
  await expect(used).toContainText("ops");
  // A link with the token in use asks nothing.
  await page.goto(link);
  await expect(used).toContainText("ops");
  await expect(notice).toBeHidden();
});
