// Loads a page's code and data while the pointer, a finger or the keyboard rests on a link to it. One listener serves
// all links, and it is not there before the first page stands.
import { matchRoutes, type RouteObject, RouterContextProvider } from "react-router";
import { isMissingPart, whenReachable } from "./outage.ts";

/** Shorter than that a pointer only passes by. */
const intentMs = 80;

/** Where a link leads within the dashboard; null where that is elsewhere, or where we are. */
export function placeOf(href: string, here: string): { pathname: string; url: URL } | null {
  const url = URL.parse(href, here);
  const current = new URL(here);
  if (url === null || url.origin !== current.origin) return null;
  const isHere = url.pathname === current.pathname && url.search === current.search;
  return isHere ? null : { pathname: url.pathname, url };
}

/** Does what the router would do first, and lets it find it done. Questions whose answer is fresh are not asked again. */
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
  // What fails now is reported when the page is opened; that the service is away is said at once.
  const results = await Promise.allSettled(work);
  if (results.some((result) => result.status === "rejected" && isMissingPart(result.reason)))
    void whenReachable();
}

/** Not every browser tells. */
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
