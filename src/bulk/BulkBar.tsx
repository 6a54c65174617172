import { Button } from "../ui/Button.tsx";
import { handFocusOn } from "../ui/hand-focus-on.ts";
import { Icon } from "../ui/Icon.tsx";
import type { Selection } from "../app/selection/selection.ts";
import { begin, type BulkAction, type BulkWords, countText } from "./bulk-task.ts";

/** What a list page gives to a room's bar. */
export type BulkProps<Item> = { items: readonly Item[]; selection: Selection };

type BulkBarProps<Item> = BulkProps<Item> &
  BulkWords<Item> & { actions: readonly BulkAction<Item>[] };

/** Why an action is possible with none of them. */
function refusalOfAll<Item>({ label, refusal }: BulkAction<Item>, items: readonly Item[]) {
  const reasons = items.map(refusal);
  if (reasons.includes(undefined)) return undefined;
  return items.length === 1 ? reasons[0] : `${label} is not available for the selected items.`;
}

/** What can be done with the selected rows. */
export function BulkBar<Item extends { id: number }>({
  items,
  selection,
  actions,
  ...words
}: BulkBarProps<Item>) {
  const onDone = (id: number) => selection.select(id, false, false);
  return (
    <section
      ref={handFocusOn}
      aria-label="Selection"
      className="mt-2 flex min-h-12 flex-wrap items-center gap-1.5 rounded-lg border border-line bg-raised px-3 py-1.5 shadow-pop motion-safe:animate-arrive"
    >
      <p className="me-auto font-medium">{items.length} selected</p>
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
          onClick={() => begin(action, { ...words, items, onDone })}
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
