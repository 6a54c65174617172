// Counts which rows of a table React renders, in any build: React reports each commit to the hook of its developer
// tools, and flags the fibers that rendered in it.
import type { Page } from "@playwright/test";

type Fiber = {
  type: unknown;
  flags: number;
  child: Fiber | null;
  sibling: Fiber | null;
  alternate: Fiber | null;
  stateNode: unknown;
};

declare global {
  // oxlint-disable-next-line no-var -- only `var` declares a property of `globalThis`
  var renderedRows: HTMLElement[] | undefined;
}

/** Installs the hook. Must be called before the page loads. */
export async function watchRows(page: Page): Promise<void> {
  await page.addInitScript(() => {
    // React's `PerformedWork`.
    const didWork = 1;
    const rows: HTMLElement[] = [];
    const look = (fiber: Fiber | null) => {
      for (let one = fiber; one !== null; one = one.sibling) {
        const row = one.child;
        if (
          (one.flags & didWork) !== 0 &&
          row?.type === "tr" &&
          row.stateNode instanceof HTMLElement
        )
          rows.push(row.stateNode);
        // A subtree that React skipped is the same object as before, with flags of an older commit.
        if (one.alternate === null || one.child !== one.alternate.child) look(one.child);
      }
    };
    globalThis.renderedRows = rows;
    Object.assign(globalThis, {
      __REACT_DEVTOOLS_GLOBAL_HOOK__: {
        supportsFiber: true,
        inject: () => 1,
        onCommitFiberRoot: (_id: number, root: { current: Fiber }) => look(root.current),
        onCommitFiberUnmount: () => undefined,
        onPostCommitFiberRoot: () => undefined,
      },
    });
  });
}

/** Resets the count. */
export const forgetRows = (page: Page): Promise<void> =>
  page.evaluate(() => globalThis.renderedRows?.splice(0)).then(() => undefined);

/** Returns the number of different rows that were rendered since the last reset. */
export const countRows = (page: Page): Promise<number> =>
  page.evaluate(() => new Set(globalThis.renderedRows).size);
