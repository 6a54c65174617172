import type { MouseEvent, ReactNode, SyntheticEvent } from "react";
import { openWhileMounted } from "./open-while-mounted.ts";

type SearchDialogProps = {
  label: string;
  /** Called for Escape and for clicks on the backdrop. */
  onClose: () => void;
  /** A `SearchInput` and its results. */
  children: ReactNode;
};

/** Near the top of the window, so that the field keeps its place while the results grow and shrink. */
export function SearchDialog({ label, onClose, children }: SearchDialogProps) {
  const cancel = (event: SyntheticEvent) => {
    event.preventDefault();
    onClose();
  };
  const closeOutside = ({ target, currentTarget }: MouseEvent) => {
    if (target === currentTarget) onClose();
  };
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- Escape is the keyboard's way; this is for the backdrop
    <dialog
      ref={openWhileMounted}
      aria-label={label}
      onCancel={cancel}
      onClick={closeOutside}
      className="mx-auto mt-[12vh] mb-auto w-[min(38rem,calc(100vw-2rem))] overflow-clip rounded-lg border border-line bg-raised text-ink shadow-pop motion-safe:animate-arrive max-sm:mt-4"
    >
      {children}
    </dialog>
  );
}
