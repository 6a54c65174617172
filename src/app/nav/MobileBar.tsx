import { type MouseEvent, useEffect, useRef, useState } from "react";
import { paths } from "../../paths.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Mark } from "../../ui/Mark.tsx";
import { Link } from "../Link.tsx";
import { PaletteButton } from "../../palette/PaletteButton.tsx";
import { SettingsLink } from "../place/SettingsLink.tsx";
import { SideNav } from "./SideNav.tsx";
import { wideScreen } from "./wide-screen.ts";
import { Icon } from "../../ui/Icon.tsx";

/** Replaces the sidebar on a narrow screen: a bar, and the same navigation behind a button. */
export function MobileBar() {
  const drawer = useRef<HTMLDialogElement>(null);
  const [isOpened, setOpened] = useState(false);
  useEffect(() => {
    const close = () => drawer.current?.close();
    // Turning a tablet hides the bar with its dialog: the page would remain inert under an invisible menu.
    const stop = wideScreen.subscribe(close);
    // Back and Forward lead to another page, like the links of the menu.
    addEventListener("popstate", close);
    return () => {
      stop();
      removeEventListener("popstate", close);
    };
  }, []);
  const closeOnLeave = (event: MouseEvent<HTMLDialogElement>) => {
    const { target } = event;
    // The content fills the dialog, so a click on the dialog itself is on the backdrop.
    const isOutside = target === event.currentTarget;
    if (isOutside || (target instanceof Element && target.closest("a") !== null))
      event.currentTarget.close();
  };
  return (
    <header className="sticky top-0 z-10 flex h-12 items-center gap-2 border-b border-line bg-sunken px-3 lg:hidden">
      <Button
        variant="ghost"
        size="icon"
        aria-label="Menu"
        aria-haspopup="dialog"
        onClick={() => {
          setOpened(true);
          drawer.current?.showModal();
        }}
      >
        <Icon name="menu" />
      </Button>
      <Link to={paths.home()} className="flex h-8 items-center gap-2 font-semibold">
        <Mark />
        Quarterdeck
      </Link>
      <span className="ms-auto" />
      <PaletteButton look="icon" />
      <SettingsLink />
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- Escape and the close button are the keyboard's ways; this is for the backdrop */}
      <dialog
        ref={drawer}
        aria-label="Menu"
        onClick={closeOnLeave}
        className="fixed inset-y-0 start-0 m-0 h-dvh max-h-none w-72 max-w-[85vw] border-e border-line bg-sunken text-ink"
      >
        <div className="absolute top-3 end-3">
          <Button
            variant="ghost"
            size="icon"
            aria-label="Close menu"
            onClick={() => drawer.current?.close()}
          >
            <Icon name="close" />
          </Button>
        </div>
        {/* Hundreds of rarely opened lines are not rendered with every page. */}
        {isOpened && <SideNav />}
      </dialog>
    </header>
  );
}
