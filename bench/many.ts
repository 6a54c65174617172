// Measures typing with much data: in the filter of a list of 1,000 workers, and in the palette with 1,000 sites.
import { chromium } from "@playwright/test";
import { launchOptions } from "../server/setup/browser.ts";
import { startManyService, siteCount, workerCount } from "./many-service.ts";
import { note, report } from "./report.ts";
import { timeListTyping, timePaletteTyping, type Typing } from "./typing.ts";

export async function run(): Promise<void> {
  const service = await startManyService();
  try {
    const browser = await chromium.launch(launchOptions());
    try {
      for (const perPage of [20, 100]) {
        const typing = await timeListTyping(browser, service, perPage);
        const list = `a filter of ${workerCount} rows, ${perPage} on a page`;
        report(`${list}: key to painted letter, 4× slower CPU`, typing.letterMs, "ms", {
          atMost: 100,
        });
        report("… to painted rows, without the answer's own time", typing.resultMs, "ms", {
          atMost: 100,
        });
        noteAnswer(typing);
      }
      const palette = await timePaletteTyping(browser, service);
      report(`palette, ${siteCount} sites: key to painted results`, palette.totalMs, "ms", {
        atMost: 50,
      });
      noteAnswer(palette);
    } finally {
      await browser.close();
    }
  } finally {
    await service.stop();
  }
}

function noteAnswer({ letterMs, resultMs, answerMs, totalMs }: Typing): void {
  note(
    `letter ${letterMs.toFixed(0)} ms, result ${resultMs.toFixed(0)} ms + answer ${answerMs.toFixed(0)} ms, all of it ${totalMs.toFixed(0)} ms`,
  );
}
