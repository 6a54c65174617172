// Leads to a page from outside of a component: a toast outlives the palette that made it.
import type { NavigateFunction } from "react-router";

let navigate: NavigateFunction | null = null;

/** To be called by the palette, which has the router. */
export const setNavigate = (next: NavigateFunction): void => {
  navigate = next;
};

export const goTo = (path: string): void => void navigate?.(path);

/** Opens a page at one of its sections, and moves the focus there. */
export async function goToSection(path: string, title: string): Promise<void> {
  await navigate?.(path);
  // The page's heading has taken the focus by then.
  await new Promise((resolve) => requestAnimationFrame(resolve));
  const headings = document.querySelectorAll<HTMLElement>("main h2");
  const heading = [...headings].find(({ textContent }) => textContent === title);
  if (heading === undefined) return;
  heading.tabIndex = -1;
  heading.focus();
  heading.scrollIntoView();
}
