// What is not needed to show a page waits until the first one stands, so that it takes nothing from it.

let tellFirstPage: () => void;
const firstPage = new Promise<void>((resolve) => (tellFirstPage = resolve));

/** To be called when the first page has its code and its data. */
export const firstPageStands = (): void => tellFirstPage();

const paintMs = 100;

/** Resolves when the first page stands and the browser has nothing better to do. */
export async function idle(): Promise<void> {
  await firstPage;
  // It is painted first. A tab that nobody sees gets no frame to wait for.
  await new Promise((resolve) => setTimeout(resolve, paintMs));
  await new Promise<void>((resolve) => {
    // Safari has no `requestIdleCallback`.
    if ("requestIdleCallback" in globalThis)
      requestIdleCallback(() => resolve(), { timeout: 3_000 });
    else setTimeout(resolve, 300);
  });
}
