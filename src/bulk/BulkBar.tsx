import { useState } from "react";
import { useNavigate } from "react-router";
import { toast } from "../app/toasts.ts";
import { Button } from "../ui/button/Button.tsx";
import { handFocusOn } from "../ui/focus/hand-focus-on.ts";
import { Icon } from "../ui/Icon.tsx";
import { takeFocus } from "../ui/focus/take-focus.ts";
import type { Selection } from "../app/selection/selection.ts";
import { fetchRows, type Listed } from "./whole-list.ts";
import { begin, type BulkAction, type BulkWords, countText } from "./bulk-task.ts";

/** Props that a list page passes to the bar of its room. */
export type BulkProps<Item> = {
  items: readonly Item[];
  selection: Selection;
  listed: Listed<Item>;
};

type BulkBarProps<Item> = BulkProps<Item> &
  BulkWords<Item> & {
    actions: readonly BulkAction<Item>[];
    /** The statuses of failed rows, for the filter of the list. */
    failed: string;
  };

/** Returns why an action is impossible for all rows. */
function refusalOfAll<Item>({ label, refusal }: BulkAction<Item>, items: readonly Item[]) {
  const reasons = items.map(refusal);
  if (reasons.includes(undefined)) return undefined;
  return items.length === 1 ? reasons[0] : `${label} is not available for the selected items.`;
}

/** The actions for the selected rows. */
export function BulkBar<Item extends { id: number }>({
  items: selected,
  selection,
  listed,
  actions,
  failed,
  ...words
}: BulkBarProps<Item>) {
  const navigate = useNavigate();
  const { meta, view, pathOf } = listed;
  /** All rows that match the filter, once they were requested. Valid only for the view in which they were requested. */
  const [matching, setMatching] = useState<{ of: typeof view; rows: readonly Item[] } | null>(null);
  const [isReading, setIsReading] = useState(false);
  const isWholePage =
    selected.length > 0 && selected.length === (meta.to ?? 0) - (meta.from ?? 1) + 1;
  const isWhole = isWholePage && matching?.of === view;
  const items = isWhole ? matching.rows : selected;
  const onDone = (id: number) => selection.select(id, false, false);
  const selectAll = async () => {
    setIsReading(true);
    try {
      setMatching({ of: view, rows: await fetchRows(listed, view) });
    } catch (error) {
      toast.failure(`Couldn't select all ${words.many}.`, error);
    }
    setIsReading(false);
  };
  const start = (action: BulkAction<Item>) =>
    void begin(action, {
      ...words,
      items,
      // Rows of other pages are not polled.
      reread: isWhole ? () => fetchRows(listed, view) : undefined,
      onDone,
      read: () => fetchRows(listed, {}),
      show: meta.counts === undefined ? null : () => void navigate(pathOf({ status: failed })),
    });
  return (
    <section
      ref={handFocusOn}
      aria-label="Selection"
      className="mt-2 flex min-h-12 flex-wrap items-center gap-1.5 rounded-lg border border-line bg-raised px-3 py-1.5 shadow-pop motion-safe:animate-arrive"
    >
      <p className="me-auto flex flex-wrap items-center gap-x-3 font-medium">
        {/* From here, Tab continues to the actions. */}
        <span ref={isWhole ? takeFocus : undefined} tabIndex={-1} className="outline-none">
          {items.length} selected
        </span>
        {isWholePage && !isWhole && meta.total > selected.length && (
          <Button size="sm" isPending={isReading} onClick={() => void selectAll()}>
            Select all {meta.total} that match
          </Button>
        )}
        {isWhole && <output className="sr-only">{items.length} selected</output>}
      </p>
      {actions.map((action) => (
        <Button
          key={action.label}
          aria-label={`${action.label}: ${items.length} selected`}
          command={{
            label: action.title(countText(items.length, words)),
            name: action.label,
            key: action.keys,
          }}
          data-tip={action.label}
          disabledReason={refusalOfAll(action, items)}
          onClick={() => start(action)}
        >
          <Icon name={action.icon} />
          <span className={`max-sm:hidden ${action.keys === "#" ? "text-bad" : ""}`}>
            {action.label}
          </span>
        </Button>
      ))}
      <Button
        variant="ghost"
        size="icon"
        command={{ label: "Clear selection", key: "Escape", reads: true }}
        onClick={() => selection.selectAll(false)}
      >
        <Icon name="close" />
      </Button>
    </section>
  );
}
