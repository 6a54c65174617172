// The dashboard's start: the token of a first-start link, then the providers.
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
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

const router = createBrowserRouter(routes);
if (router.state.initialized) firstPageStands();
const stopWaiting = router.subscribe(({ initialized }) => {
  if (!initialized) return;
  stopWaiting();
  firstPageStands();
});

const root = document.querySelector("#root");
if (root === null) throw new Error("index.html has no #root.");

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);

void idle().then(async () => (await import("./app/prefetch.ts")).prefetchLinks(routes));
