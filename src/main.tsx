// Starts the dashboard: handles a sign-in link, then renders the providers and the router.
import { QueryClientProvider } from "@tanstack/react-query";
import { startTransition, StrictMode } from "react";
import { createRoot, type Root } from "react-dom/client";
import type { DataRouter, RouteObject } from "react-router";
import { RouterProvider } from "react-router/dom";
import { queryClient } from "./api/query.ts";
import { takeLink, type SignInLink } from "./api/kept-session.ts";
import { sessions } from "./api/session.ts";
import { createRouter } from "./app/routing/create-router.ts";
import "./app/routing/first-parts.ts";
import { firstPageStands, idle } from "./app/idle.ts";
import { restoreCache } from "./app/routing/kept-cache.ts";
import { RouterContext } from "./app/routing/router-context.ts";
import { linkState, unansweredText } from "./app/connect/link-state.ts";
import { readFrom } from "./paths.ts";
import { routes } from "./routes.tsx";
import { nextChange } from "./store.ts";
import "./styles.css";

// In a built dashboard, `preload/start.ts` has taken the link already.
const link = takeLink() ?? globalThis.signInLink ?? null;
globalThis.signInLink = null;

// `usePageChange` restores the scroll position once the page is rendered.
history.scrollRestoration = "manual";

/** A page whose data arrives within this time is rendered at once; otherwise its skeleton comes first. */
const frameMs = 200;

let root: Root | null = null;
let router: DataRouter | null = null;
let mounts = 0;

/** A router removes the lazy parts from its routes as it loads them, so another router would have empty pages. */
function copyOf(route: RouteObject): RouteObject {
  const copy = { ...route };
  if (typeof copy.lazy === "object") copy.lazy = { ...copy.lazy };
  if (copy.children !== undefined) copy.children = copy.children.map(copyOf);
  return copy;
}

/** Renders the page of the address from scratch. */
function mount(): void {
  const place = document.querySelector("#root");
  if (place === null) throw new Error("index.html has no #root.");
  router?.dispose();
  const mounted = createRouter(routes.map(copyOf));
  router = mounted;
  const initialized = new Promise<void>((resolve) => {
    if (mounted.state.initialized) resolve();
    const stopWaiting = mounted.subscribe(({ initialized }) => {
      if (!initialized) return;
      stopWaiting();
      resolve();
    });
  });
  void initialized.then(firstPageStands);

  mounts += 1;
  const app = (
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterContext value={mounted}>
          <RouterProvider key={mounts} router={mounted} />
        </RouterContext>
      </QueryClientProvider>
    </StrictMode>
  );
  const waited = new Promise<void>((resolve) => setTimeout(resolve, frameMs));
  // A transition is rendered in slices, so that the browser stays responsive.
  void Promise.race([initialized, waited]).then(() =>
    startTransition(() => {
      if (router !== mounted) return;
      root ??= createRoot(place);
      root.render(app);
    }),
  );
}

function remount(): void {
  queryClient.clear();
  if (sessions.current() !== null && location.pathname === "/connect")
    history.replaceState(null, "", readFrom(new URLSearchParams(location.search)));
  if (router !== null) mount();
}

type Links = { open(link: SignInLink): Promise<void>; verify(token: string): Promise<void> };

/** Few visits begin with a link, so its code is loaded on demand. */
async function loadLinks(): Promise<Links> {
  const loaded = await import("./app/connect/sign-in-link.ts").catch(() => null);
  return (
    loaded?.createLinks(remount) ?? {
      open: async () => linkState.set({ kind: "failed", reason: unansweredText }),
      // The page shows the same error already.
      verify: async () => {},
    }
  );
}

/** A page that the browser prerenders must not use up the code. */
const whenShown = (): Promise<unknown> =>
  "prerendering" in document && document.prerendering === true
    ? new Promise((resolve) =>
        document.addEventListener("prerenderingchange", resolve, { once: true }),
      )
    : Promise.resolve();

/** Separate, because a tab with a session needs it only after the page is shown. */
const joinTabs = () =>
  import("./app/connect/session-tabs.ts").then(
    (tabs) => {
      tabs.joinSessionTabs(remount);
      return tabs;
    },
    () => null,
  );

async function start(): Promise<void> {
  // A user who opens the connect page may want another service than that of the other tabs.
  if (link === null && sessions.current() === null && location.pathname !== "/connect") {
    // Preloaded, because it is shown next if no tab answers.
    void import("./app/connect/ConnectPage.tsx");
    await (await joinTabs())?.askSessionTabs();
  }
  if (link !== null) {
    await whenShown();
    const { kind, secret } = link;
    if (kind === "token" && sessions.current() === null) {
      // The page waits neither for the code that checks the token, nor for the result.
      sessions.connect({ address: "", token: secret }, { remember: false, fromLink: kind });
      const firstPage = Promise.race([idle(), nextChange(sessions.state)]);
      void firstPage.then(loadLinks).then(({ verify }) => verify(secret));
    } else {
      const opened = loadLinks().then(({ open }) => open(link));
      // Without a session, every page would redirect to the connect page meanwhile.
      if (sessions.current() === null) await opened;
    }
  }
  restoreCache(sessions.current());
  mount();
}

// Opening a link in a tab with the dashboard changes only the fragment, and loads nothing.
addEventListener("hashchange", () => {
  const link = takeLink();
  if (link !== null) void loadLinks().then(({ open }) => open(link));
});

// In a separate task, so that the browser stays responsive.
setTimeout(() => void start());

void idle()
  // Preloads the error page, for when the service is unreachable, and the font of ids and commands, so that no first
  // page on a slow connection waits for it: few of them use it.
  .then(() =>
    Promise.allSettled([
      joinTabs(),
      import("./app/routing/ErrorPage.tsx"),
      document.fonts.load('1em "Geist Mono"'),
    ]),
  )
  .then(() => import("./app/routing/prefetch.ts"))
  .then(
    ({ prefetchLinks }) => prefetchLinks(routes),
    // Links work without prefetching, only slower.
    () => {},
  );
