// Loads a page's code and data while the pointer, a finger or the keyboard focus is on a link to it. One listener
// serves all links, and is installed after the first page.
import { matchRoutes, type RouteObject, RouterContextProvider } from "react-router";
import { isMissingPart, whenReachable } from "../shell/outage.ts";

/** A pointer that stays shorter is only passing. */
const intentMs = 80;

/** Returns the target of a link within the dashboard; null where it leads elsewhere, or to the current page. */
export function placeOf(href: string, here: string): { pathname: string; url: URL } | null {
  const url = URL.parse(href, here);
  const current = new URL(here);
  if (url === null || url.origin !== current.origin) return null;
  const isHere = url.pathname === current.pathname && url.search === current.search;
  return isHere ? null : { pathname: url.pathname, url };
}

/** Runs what the router would run first, so that it finds the results. Fresh queries are not repeated. */
export async function prepare(routes: RouteObject[], href: string, here: string): Promise<void> {
  const place = placeOf(href, here);
  if (place === null) return;
  const { pathname, url } = place;
  const request = new Request(url);
  const work = (matchRoutes(routes, pathname) ?? []).map(({ route, params, pathname }) => {
    const lazy = typeof route.lazy === "object" ? route.lazy : {};
    const load = async () => {
      const loader = route.loader ?? (await lazy.loader?.());
      const context = new RouterContextProvider();
      if (typeof loader === "function")
        await loader({ request, params, url, pattern: pathname, context });
    };
    return Promise.all([lazy.Component?.(), load()]);
  });
  // Failures are reported when the page is opened, except that the service is unreachable.
  const results = await Promise.allSettled(work);
  if (results.some((result) => result.status === "rejected" && isMissingPart(result.reason)))
    void whenReachable();
}

/** Whether the browser saves data; not every browser reports that. */
function savesData(): boolean {
  const connection = "connection" in navigator ? navigator.connection : null;
  return (
    typeof connection === "object" &&
    connection !== null &&
    "saveData" in connection &&
    connection.saveData === true
  );
}

const linkOf = (target: EventTarget | null): HTMLAnchorElement | null =>
  target instanceof Element ? target.closest<HTMLAnchorElement>("a[href]") : null;

export function prefetchLinks(routes: RouteObject[]): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let intended: HTMLAnchorElement | null = null;

  const intend = (link: HTMLAnchorElement | null, afterMs: number) => {
    if (link === intended) return;
    clearTimeout(timer);
    intended = link;
    if (link === null || link.target === "_blank" || savesData()) return;
    timer = setTimeout(() => void prepare(routes, link.href, location.href), afterMs);
  };
  const on = <Name extends keyof DocumentEventMap>(
    name: Name,
    listener: (event: DocumentEventMap[Name]) => void,
  ) => document.addEventListener(name, listener, { passive: true });

  on("pointerover", ({ target, pointerType }) => {
    if (pointerType !== "touch") intend(linkOf(target), intentMs);
  });
  on("focusin", ({ target }) => {
    const link = linkOf(target);
    if (link?.matches(":focus-visible") === true) intend(link, intentMs);
  });
  on("touchstart", ({ target }) => intend(linkOf(target), 0));
}
