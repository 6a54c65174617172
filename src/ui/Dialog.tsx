import { type ReactNode, type SyntheticEvent, useId } from "react";
import { openWhileMounted } from "./open-while-mounted.ts";

type DialogProps = {
  title: string;
  /** An alert dialog is a question that must be answered. */
  role?: "dialog" | "alertdialog";
  /** Escape was pressed. */
  onClose: () => void;
  children: ReactNode;
  /** The answers; the first one gets the focus, so the harmless one comes first. */
  actions: ReactNode;
};

export function Dialog({ title, role = "dialog", onClose, children, actions }: DialogProps) {
  const id = useId();
  const cancel = (event: SyntheticEvent) => {
    // Closing is the owner's to do, who may be busy; the element must not close by itself.
    event.preventDefault();
    onClose();
  };
  return (
    <dialog
      ref={openWhileMounted}
      role={role}
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-body`}
      onCancel={cancel}
      className="m-auto w-[min(28rem,calc(100vw-2rem))] rounded-lg border border-line bg-raised text-ink shadow-pop motion-safe:animate-arrive"
    >
      <div className="grid gap-2 p-5">
        <h2 id={`${id}-title`} className="text-lg font-semibold">
          {title}
        </h2>
        <div id={`${id}-body`} className="grid gap-2 text-muted">
          {children}
        </div>
      </div>
      <div className="flex justify-end gap-2 border-t border-line bg-sunken px-5 py-3">
        {actions}
      </div>
    </dialog>
  );
}
