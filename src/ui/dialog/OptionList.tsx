import type { PointerEvent, ReactNode } from "react";
import { Icon } from "../Icon.tsx";

type Option = {
  /** Unique in the document. */
  id: string;
  icon: ReactNode;
  label: ReactNode;
  /** At the end of the line, or below where there is no room. */
  detail: ReactNode;
  isDisabled: boolean;
  /** Whether it has further actions. For the keyboard, the field has a key for that. */
  hasMore: boolean;
};

type OptionGroup = { id: string; label: string; note: string; options: readonly Option[] };

type OptionListProps = {
  id: string;
  label: string;
  groups: readonly OptionGroup[];
  /** The option that Enter selects. The focus stays in the field, which names it as its active descendant. */
  activeId: string | undefined;
  onPoint: (id: string) => void;
  onChoose: (id: string) => void;
  onMore: (id: string) => void;
};

// Forced colors remove the background, and make the outline visible.
const optionClass =
  "flex min-h-9 scroll-my-9 items-center gap-x-2.5 rounded-md px-2 py-1.5 -outline-offset-2 outline-transparent aria-disabled:text-muted aria-selected:bg-accent-soft aria-selected:outline-2 max-sm:min-h-11";

const keepFocus = (event: PointerEvent) => event.preventDefault();

/** The list below a `SearchInput`, in groups. */
export function OptionList({
  id,
  label,
  groups,
  activeId,
  onPoint,
  onChoose,
  onMore,
}: OptionListProps) {
  return (
    <div
      id={id}
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a <select> takes the focus and holds texts alone
      role="listbox"
      aria-label={label}
      className="max-h-[min(26rem,60dvh)] overflow-y-auto overscroll-contain p-2"
    >
      {groups.map((group) => (
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a listbox holds groups, no fieldsets
        <div key={group.id} role="group" aria-labelledby={group.id} className="pb-1 last:pb-0">
          <p className="flex items-baseline gap-2 px-2 pt-1.5 pb-1 text-xs text-muted">
            <span id={group.id} className="font-medium">
              {group.label}
            </span>
            <span className="ms-auto">{group.note}</span>
          </p>
          {group.options.map((option) => (
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the field above has the focus and the keys
            <div
              key={option.id}
              id={option.id}
              // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- as above
              role="option"
              aria-selected={option.id === activeId}
              aria-disabled={option.isDisabled || undefined}
              onPointerDown={keepFocus}
              // Not `pointerenter`, which also fires when the list moves under a resting pointer.
              onPointerMove={() => onPoint(option.id)}
              onClick={() => onChoose(option.id)}
              className={optionClass}
            >
              <span className="text-muted">{option.icon}</span>
              <span className="flex min-w-0 flex-1 flex-wrap items-baseline justify-between gap-x-4">
                <span className="min-w-0 font-medium wrap-anywhere">{option.label}</span>
                <span className="min-w-0 text-sm wrap-anywhere text-muted">{option.detail}</span>
              </span>
              {option.hasMore && (
                // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- for a pointer; an option holds no button
                <span
                  aria-hidden
                  data-tip="Actions"
                  onClick={(event) => {
                    event.stopPropagation();
                    onMore(option.id);
                  }}
                  className="-me-1 flex size-6 shrink-0 items-center justify-center rounded-sm text-muted hover:bg-hover hover:text-ink max-sm:size-9"
                >
                  <Icon name="right" />
                </span>
              )}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
