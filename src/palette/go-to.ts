// Navigates from outside of components: a toast outlives the palette that created it.
import type { NavigateFunction } from "react-router";

let navigate: NavigateFunction | null = null;

/** Called by the palette, which has the router. */
export const setNavigate = (next: NavigateFunction): void => {
  navigate = next;
};

export const goTo = (path: string): void => void navigate?.(path);

/** Opens a page at a section, and moves the focus there. */
export async function goToSection(path: string, title: string): Promise<void> {
  await navigate?.(path);
  // Waits until the focus has moved to the page's heading.
  await new Promise((resolve) => requestAnimationFrame(resolve));
  const headings = document.querySelectorAll<HTMLElement>("main h2");
  const heading = [...headings].find(({ textContent }) => textContent === title);
  if (heading === undefined) return;
  heading.tabIndex = -1;
  heading.focus();
  heading.scrollIntoView();
}
