import { type ReactNode, useId } from "react";
import { CopyButton } from "../button/CopyButton.tsx";

type TextBoxProps = {
  title: string;
  /** The text that is shown. */
  text: string;
  /** The text that is copied, where it differs from the readable one. */
  exact?: string;
  /** Shown instead of an empty text. */
  empty?: string;
  /** Whether to keep lines and scroll, as for code; other text is wrapped. */
  isCode?: boolean;
  /** Below the text. */
  note?: ReactNode;
  /** Next to the title. */
  children?: ReactNode;
};

/** A machine-readable text under a title, to read and to copy. */
export function TextBox({
  title,
  text,
  exact = text,
  empty = "Empty.",
  isCode = false,
  note,
  children,
}: TextBoxProps) {
  const id = useId();
  return (
    <div className="grid min-w-0">
      <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 pb-1">
        <h3 id={id} className="text-sm font-medium">
          {title}
        </h3>
        <div className="ms-auto flex items-center gap-1.5">
          {children}
          {exact !== "" && <CopyButton label={`Copy ${title.toLowerCase()}`} text={() => exact} />}
        </div>
      </div>
      {text === "" ? (
        <p className="text-sm text-muted">{empty}</p>
      ) : (
        <figure
          aria-labelledby={id}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a box that scrolls must be reachable by key
          tabIndex={0}
          className="max-h-96 overflow-auto rounded-md border border-line bg-sunken px-3 py-2"
        >
          <pre className={`font-mono text-xs ${isCode ? "" : "wrap-anywhere whitespace-pre-wrap"}`}>
            {text}
          </pre>
        </figure>
      )}
      {note !== undefined && <p className="mt-1 text-xs text-muted">{note}</p>}
    </div>
  );
}
