// Measures what open tabs cost the service: requests per minute of eight tabs compared with one, with and without
// sharing.
import { setTimeout as wait } from "node:timers/promises";
import type { Browser } from "@playwright/test";
import type { DashboardService } from "./dashboard-service.ts";
import { note, report } from "./report.ts";

const tabCount = 8;
const minuteMs = 60_000;

type Setting = {
  tabs: number;
  isSharing: boolean;
  /** Whether only the first tab is visible, as in one window; otherwise each tab has its own window. */
  isOneWindow: boolean;
};

declare global {
  // oxlint-disable-next-line no-var -- a global of the page is declared so
  var hideTab: () => void;
}

/**
 * Opens tabs on a list, one after the other.
 * @returns the number of their requests since `count.start`
 */
async function openTabs(browser: Browser, service: DashboardService, setting: Setting) {
  const context = await browser.newContext();
  await context.addInitScript(
    ([token, isSharing]) => {
      sessionStorage.setItem("quarterdeck.session", JSON.stringify({ address: "", token }));
      if (!isSharing) Reflect.deleteProperty(globalThis, "BroadcastChannel");
      // A headless browser treats all of its tabs as visible.
      globalThis.hideTab = () => {
        Object.defineProperty(document, "visibilityState", { value: "hidden" });
        document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
      };
    },
    [service.token, setting.isSharing] as const,
  );
  for (let tab = 0; tab < setting.tabs; tab++) {
    const page = await context.newPage();
    await page.goto(`${service.url}/sites/1/workers`);
    await page.locator("main tbody tr").first().waitFor();
    await page.waitForLoadState("networkidle");
    if (setting.isOneWindow && tab > 0) await page.evaluate(() => globalThis.hideTab());
  }
  let requests = 0;
  context.on("request", (request) => {
    if (new URL(request.url()).pathname.startsWith("/api/")) requests += 1;
  });
  return {
    start: () => (requests = 0),
    read: () => requests,
    close: () => context.close(),
  };
}

/** Measures in the same minute: one tab, eight that share, eight that do not. */
async function countRequests(browser: Browser, service: DashboardService, isOneWindow: boolean) {
  const one = await openTabs(browser, service, { tabs: 1, isSharing: true, isOneWindow });
  const sharing = await openTabs(browser, service, {
    tabs: tabCount,
    isSharing: true,
    isOneWindow,
  });
  const alone = await openTabs(browser, service, { tabs: tabCount, isSharing: false, isOneWindow });
  const all = [one, sharing, alone];
  for (const { start } of all) start();
  await wait(minuteMs);
  const [ofOne = 0, ofSharing = 0, ofAlone = 0] = all.map(({ read }) => read());
  for (const { close } of all) await close();
  return { ofOne, ofSharing, ofAlone };
}

export async function measureOpenTabs(browser: Browser, service: DashboardService): Promise<void> {
  const windows = await countRequests(browser, service, false);
  report(
    "eight windows that show a list: requests, with sharing ÷ without",
    windows.ofSharing / windows.ofAlone,
    "",
    { atMost: 0.85 },
  );
  note(`a minute: one ${windows.ofOne}, with ${windows.ofSharing}, without ${windows.ofAlone}`);
  const tabs = await countRequests(browser, service, true);
  report("eight tabs of one window: requests, against one tab", tabs.ofSharing / tabs.ofOne, "", {
    atMost: 1.5,
  });
  note(`a minute: one ${tabs.ofOne}, with ${tabs.ofSharing}, without ${tabs.ofAlone}`);
}
