// The dashboard's start: the link that it may have been opened with, then the providers.
import { QueryClientProvider } from "@tanstack/react-query";
import { startTransition, StrictMode } from "react";
import { createRoot, type Root } from "react-dom/client";
import type { DataRouter, RouteObject } from "react-router";
import { RouterProvider } from "react-router/dom";
import { queryClient } from "./api/query.ts";
import { takeLink, type SignInLink } from "./api/kept-session.ts";
import { sessions } from "./api/session.ts";
import { createRouter } from "./app/create-router.ts";
import "./app/first-parts.ts";
import { firstPageStands, idle } from "./app/idle.ts";
import { restoreCache } from "./app/kept-cache.ts";
import { RouterContext } from "./app/router-context.ts";
import { linkState, unansweredText } from "./app/link-state.ts";
import { readFrom } from "./paths.ts";
import { routes } from "./routes.tsx";
import { nextChange } from "./store.ts";
import "./styles.css";

// Where the page was built, `first-frame.ts` has taken it already.
const link = takeLink() ?? globalThis.signInLink ?? null;
globalThis.signInLink = null;

// `usePageChange` puts the scroll position back, once the page is there.
history.scrollRestoration = "manual";

/** A page whose data comes within this is rendered once, in place of the frame; otherwise its skeleton comes first. */
const frameMs = 200;

let root: Root | null = null;
let router: DataRouter | null = null;
let mounts = 0;

/** A router takes the lazy parts out of its routes as it loads them, so that the next one would have empty pages. */
function copyOf(route: RouteObject): RouteObject {
  const copy = { ...route };
  if (typeof copy.lazy === "object") copy.lazy = { ...copy.lazy };
  if (copy.children !== undefined) copy.children = copy.children.map(copyOf);
  return copy;
}

/** Shows the page of the address, as if nothing had been there before. */
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
  // As a transition it is rendered in slices, so that the browser answers in between.
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

/** Few visits begin with a link, so what opens one is loaded for them alone. */
async function loadLinks(): Promise<Links> {
  const loaded = await import("./app/sign-in-link.ts").catch(() => null);
  return (
    loaded?.createLinks(remount) ?? {
      open: async () => linkState.set({ kind: "failed", reason: unansweredText }),
      // Nobody could say what the page does not say already.
      verify: async () => {},
    }
  );
}

/** A page that the browser fetches before anybody asked for it must not use up the code. */
const whenShown = (): Promise<unknown> =>
  "prerendering" in document && document.prerendering === true
    ? new Promise((resolve) =>
        document.addEventListener("prerenderingchange", resolve, { once: true }),
      )
    : Promise.resolve();

/** Apart, because a tab that has a session needs it only once it stands. */
const joinTabs = () =>
  import("./app/session-tabs.ts").then(
    (tabs) => {
      tabs.joinSessionTabs(remount);
      return tabs;
    },
    () => null,
  );

async function start(): Promise<void> {
  // Whoever goes to the connect page by hand may want another service than that of the other tabs.
  if (link === null && sessions.current() === null && location.pathname !== "/connect") {
    // Without an answer it is the next thing to be shown.
    void import("./app/ConnectPage.tsx");
    await (await joinTabs())?.askSessionTabs();
  }
  if (link !== null) {
    await whenShown();
    const { kind, secret } = link;
    if (kind === "token" && sessions.current() === null) {
      // The page waits neither for what looks at the token, nor for the answer.
      sessions.connect({ address: "", token: secret }, { remember: false, fromLink: kind });
      const firstPage = Promise.race([idle(), nextChange(sessions.state)]);
      void firstPage.then(loadLinks).then(({ verify }) => verify(secret));
    } else {
      const opened = loadLinks().then(({ open }) => open(link));
      // Without a session every page would lead to the connect page meanwhile.
      if (sessions.current() === null) await opened;
    }
  }
  restoreCache(sessions.current());
  mount();
}

// The link opened in a tab that already shows the dashboard loads nothing by itself.
addEventListener("hashchange", () => {
  const link = takeLink();
  if (link !== null) void loadLinks().then(({ open }) => open(link));
});

// In a task of its own, for the same reason.
setTimeout(() => void start());

void idle()
  // The error page so that it is there when the service is not. The font of ids and commands so that no page of a slow line
  // waits for it: few first pages show one.
  .then(() =>
    Promise.allSettled([
      joinTabs(),
      import("./app/ErrorPage.tsx"),
      document.fonts.load('1em "Geist Mono"'),
    ]),
  )
  .then(() => import("./app/prefetch.ts"))
  .then(
    ({ prefetchLinks }) => prefetchLinks(routes),
    // Every link works without it, a little later.
    () => {},
  );
