// Inline script of index.html, allowed by its hash in the Content-Security-Policy. Runs before anything else has loaded: applies the
// color scheme, preloads the page's code, sends its first requests, and shows the frame of the page.
import { firstSession, takeLink } from "../api/kept-session.ts";
import { requestHeaders } from "../api/request-headers.ts";
import { wideScreen } from "../app/nav/wide-screen.ts";
import { linkModule, preloadFor } from "./pages.ts";
import "../../public/scheme.js";

// Defined by the build: the files that each page's module needs.
declare const PRELOAD_FILES: Record<string, readonly string[]>;

function preload(module: string): void {
  for (const href of PRELOAD_FILES[module] ?? []) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.crossOrigin = "";
    link.href = href;
    document.head.append(link);
  }
}

function start(): void {
  const link = takeLink();
  globalThis.signInLink = link;
  const session = firstSession(link);
  if (link !== null && session === null) preload(linkModule);
  if (session === null || location.pathname === "/connect") return;
  document.documentElement.dataset["connected"] = "";
  const page = preloadFor(location.pathname, location.search, wideScreen.get());
  if (page === null) return;
  preload(page.module);
  const responses = new Map<string, Promise<Response>>();
  for (const ask of page.asks) {
    const url = session.address + ask;
    const response = fetch(url, { headers: requestHeaders(session), credentials: "omit" });
    // The taker gets the error; this prevents an unhandled rejection before that.
    response.catch(() => undefined);
    responses.set(url, response);
  }
  globalThis.preloadedResponses = { session, startedMs: performance.now(), responses };
}

start();
