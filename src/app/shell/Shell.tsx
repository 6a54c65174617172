// The frame around every page: navigation, notices, toasts, confirmations, and the redirect to the connect page without
// a session.
import { Fragment, memo, Suspense, useLayoutEffect } from "react";
import { Navigate, Outlet, useLocation, useNavigation } from "react-router";
import { sessions } from "../../api/session.ts";
import { paths } from "../../paths.ts";
import { nextChange, useStore } from "../../store.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { question } from "../confirm.ts";
import { idle } from "../idle.ts";
import { MobileBar } from "../nav/MobileBar.tsx";
import { optionalPart } from "../routing/optional-part.ts";
import { listenForPalette, paletteState } from "../../palette/palette-state.ts";
import { RememberNotice } from "../connect/RememberNotice.tsx";
import { earlyKey, listenForEarlyKey } from "../../shortcuts/early-key.ts";
import { usePageChange } from "../routing/page-change.ts";
import { openRowsByClick } from "../list/row-clicks.ts";
import { SideNav } from "../nav/SideNav.tsx";
import { linkState } from "../connect/link-state.ts";
import { toasts } from "../toasts.ts";
import { wideScreen } from "../nav/wide-screen.ts";

/** Shown instead of the parts above the page when their code cannot be loaded although the service responds. */
function OverlaysMissing() {
  return (
    <div className="fixed inset-x-4 bottom-4 z-20 mx-auto max-w-xl rounded-md bg-raised shadow-pop">
      <Notice
        tone="bad"
        isAlert
        actions={<Button onClick={() => location.reload()}>Reload</Button>}
      >
        Couldn't load part of the dashboard: dialogs, messages and search are unavailable. Reload
        the page; a newer version may be installed.
      </Notice>
    </div>
  );
}

const Overlays = optionalPart(async () => {
  await Promise.race([idle(), ...[paletteState, question, toasts, earlyKey].map(nextChange)]);
  return (await import("./Overlays.tsx")).Overlays;
}, OverlaysMissing);

// Rarely needed, so the first bundle excludes it.
const LinkNotice = optionalPart(
  async () => (await import("../connect/LinkNotice.tsx")).LinkNotice,
  OverlaysMissing,
);

function ToConnect() {
  const navigation = useNavigation();
  // After connecting, the user gets to the requested page. A list's filter is read from the browser's address, because
  // the router is not told of it while it is typed.
  const { pathname, search } = navigation.location ?? location;
  // A loader may have redirected already.
  if (pathname === paths.connect()) return null;
  return <Navigate replace to={paths.connect(pathname + search)} />;
}

/** Separate because it follows the address, so that the frame does not render with each letter of a filter. */
function Travel() {
  usePageChange();
  if (useNavigation().state !== "loading") return null;
  return (
    <div aria-hidden className="fixed inset-x-0 top-0 z-20 h-0.5 animate-wait overflow-clip">
      <div className="h-full w-1/4 bg-accent forced-colors:bg-[Highlight] motion-safe:animate-travel" />
    </div>
  );
}

/** Keyed by path, so that nothing on the page of one object, such as a form or a secret, is kept for the next. */
function Page() {
  const { pathname } = useLocation();
  return (
    <Fragment key={pathname}>
      <Outlet />
    </Fragment>
  );
}

export const Shell = memo(() => {
  const { session } = useStore(sessions.state);
  const link = useStore(linkState);
  // Before the first paint: as soon as the page is visible, a key may be pressed.
  useLayoutEffect(listenForPalette, []);
  useLayoutEffect(listenForEarlyKey, []);
  useLayoutEffect(openRowsByClick, []);
  const isWide = useStore(wideScreen);

  if (session === null) return <ToConnect />;
  return (
    <>
      <a
        href="#main"
        className="sr-only z-20 rounded-md bg-brand px-3 py-2 text-on-brand focus:not-sr-only focus:fixed focus:top-2 focus:start-2"
      >
        Skip to content
      </a>
      <MobileBar />
      <div className="lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
        <div className="sticky top-0 h-dvh overflow-y-auto border-e border-line bg-sunken max-lg:hidden">
          {isWide && <SideNav />}
        </div>
        <main
          id="main"
          tabIndex={-1}
          className="mx-auto grid w-full max-w-6xl grid-cols-[minmax(0,1fr)] content-start gap-5 px-8 pt-6 pb-24 max-lg:px-6 max-sm:px-4 max-sm:pt-4"
        >
          {link.kind !== "none" && (
            <Suspense>
              <LinkNotice isSignedIn />
            </Suspense>
          )}
          <RememberNotice />
          <Page />
        </main>
      </div>
      <Travel />
      <Suspense>
        <Overlays />
      </Suspense>
    </>
  );
});
