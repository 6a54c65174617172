import { useState } from "react";
import { Icon } from "../ui/Icon.tsx";
import { visibleText } from "../ui/text/visible-text.ts";

const maxCharacters = 160;

/** Further text of an entry. A long one is truncated until it is expanded. */
export function EntryDetail({ text: raw, about }: { text: string; about: string }) {
  const text = visibleText(raw);
  const [isOpen, setIsOpen] = useState(false);
  const isLong = text.length > maxCharacters || text.includes("\n");
  if (!isLong) return <p className="text-xs wrap-anywhere text-muted">{text}</p>;
  return (
    <div className="flex items-start gap-2 text-xs text-muted">
      <p
        className={`min-w-0 flex-1 wrap-anywhere ${isOpen ? "whitespace-pre-wrap" : "line-clamp-1"}`}
      >
        {text}
      </p>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="-my-1 inline-flex min-h-6 shrink-0 items-center gap-1 rounded-sm border border-transparent px-1 font-medium hover:text-ink"
      >
        {isOpen ? "Less" : "More"}
        <span className="sr-only"> about {about}</span>
        <span className={isOpen ? "rotate-180" : ""}>
          <Icon name="down" />
        </span>
      </button>
    </div>
  );
}
