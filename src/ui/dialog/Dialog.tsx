import { type ReactNode, type SyntheticEvent, useId } from "react";
import { openWhileMounted } from "./open-while-mounted.ts";

type DialogProps = {
  title: string;
  /** An alert dialog must be answered. */
  role?: "dialog" | "alertdialog";
  /** Whether it has much text: it is wider, and the focus begins at its title. */
  isLong?: boolean;
  /** Called for Escape. */
  onClose: () => void;
  children: ReactNode;
  /** The buttons. The first one gets the focus, so it must be harmless. */
  actions: ReactNode;
};

export function Dialog({
  title,
  role = "dialog",
  isLong = false,
  onClose,
  children,
  actions,
}: DialogProps) {
  const id = useId();
  const cancel = (event: SyntheticEvent) => {
    // The owner closes the dialog, unless it is busy; the element must not close by itself.
    event.preventDefault();
    onClose();
  };
  return (
    <dialog
      ref={openWhileMounted}
      role={role}
      aria-labelledby={`${id}-title`}
      // A description is read out without a break, which is unsuitable for a list.
      aria-describedby={isLong ? undefined : `${id}-body`}
      onCancel={cancel}
      className={`m-auto ${isLong ? "w-[min(36rem,calc(100vw-2rem))]" : "w-[min(28rem,calc(100vw-2rem))]"} rounded-lg border border-line bg-raised text-ink shadow-pop motion-safe:animate-arrive`}
    >
      <div className="grid gap-2 p-5 wrap-anywhere">
        <h2
          id={`${id}-title`}
          tabIndex={isLong ? -1 : undefined}
          className="text-lg font-semibold outline-none"
        >
          {title}
        </h2>
        <div id={`${id}-body`} className="grid gap-2 text-muted">
          {children}
        </div>
      </div>
      <div className="sticky bottom-0 flex flex-wrap justify-end gap-2 border-t border-line bg-sunken px-5 py-3">
        {actions}
      </div>
    </dialog>
  );
}
