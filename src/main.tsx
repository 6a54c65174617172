// The dashboard's start: the token of a first-start link, then the providers.
import { QueryClientProvider } from "@tanstack/react-query";
import { startTransition, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createBrowserRouter } from "react-router";
import { RouterProvider } from "react-router/dom";
import { queryClient } from "./api/query.ts";
import { readFragmentToken } from "./api/kept-session.ts";
import { sessions } from "./api/session.ts";
import "./app/first-parts.ts";
import { firstPageStands, idle } from "./app/idle.ts";
import { routes } from "./routes.tsx";
import "./styles.css";

/** Takes the token out of the address before anything else can read or record it. */
function takeFragmentToken(): boolean {
  const token = readFragmentToken(location.hash);
  if (token === null) return false;
  history.replaceState(history.state, "", location.pathname + location.search);
  // The same link again must not undo "remember".
  if (sessions.current()?.token !== token)
    sessions.connect({ address: "", token }, { remember: false, isFromLink: true });
  return true;
}

takeFragmentToken();
// The link opened in a tab that already shows the dashboard loads nothing by itself.
addEventListener("hashchange", () => {
  if (takeFragmentToken()) location.reload();
});

// `usePageChange` puts the scroll position back, once the page is there.
history.scrollRestoration = "manual";

/** A page whose data comes within this is rendered once, in place of the frame; otherwise its skeleton comes first. */
const frameMs = 200;

function start(): void {
  const root = document.querySelector("#root");
  if (root === null) throw new Error("index.html has no #root.");
  const router = createBrowserRouter(routes);
  const initialized = new Promise<void>((resolve) => {
    if (router.state.initialized) resolve();
    const stopWaiting = router.subscribe(({ initialized }) => {
      if (!initialized) return;
      stopWaiting();
      resolve();
    });
  });
  void initialized.then(firstPageStands);

  const app = (
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>
  );
  const waited = new Promise<void>((resolve) => setTimeout(resolve, frameMs));
  // As a transition it is rendered in slices, so that the browser answers in between.
  void Promise.race([initialized, waited]).then(() =>
    startTransition(() => createRoot(root).render(app)),
  );
}

// In a task of its own, for the same reason.
setTimeout(start);

void idle()
  .then(() => import("./app/prefetch.ts"))
  .then(
    ({ prefetchLinks }) => prefetchLinks(routes),
    // Every link works without it, a little later.
    () => {},
  );
