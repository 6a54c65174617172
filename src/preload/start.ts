// Runs from index.html before anything else is there, as a small script of its own that the service's policy names by
// its hash: applies the chosen scheme, preloads the page's code, asks its first questions, and lets the frame of the page show.
import { firstSession, takeLink } from "../api/kept-session.ts";
import { requestHeaders } from "../api/request-headers.ts";
import { wideScreen } from "../app/wide-screen.ts";
import { linkModule, preloadFor } from "./pages.ts";
import "../../public/scheme.js";

// The build puts in, by module, the files that a page's code is made of.
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
    // Whoever takes it learns of a failure; until then nobody handles it.
    response.catch(() => undefined);
    responses.set(url, response);
  }
  globalThis.preloadedResponses = { session, startedMs: performance.now(), responses };
}

start();
