// Delays what no page needs until the first page is shown, so that it does not compete with it.

let tellFirstPage: () => void;
const firstPage = new Promise<void>((resolve) => (tellFirstPage = resolve));

/** Called when the first page has its code and its data. */
export const firstPageStands = (): void => tellFirstPage();

const paintMs = 100;

/** Resolves when the first page is shown and the browser is idle. */
export async function idle(): Promise<void> {
  await firstPage;
  // Leaves time for the first paint. A hidden tab gets no animation frame to wait for.
  await new Promise((resolve) => setTimeout(resolve, paintMs));
  await new Promise<void>((resolve) => {
    // Safari has no `requestIdleCallback`.
    if ("requestIdleCallback" in globalThis)
      requestIdleCallback(() => resolve(), { timeout: 3_000 });
    else setTimeout(resolve, 300);
  });
}
