// The list of keyboard shortcuts, from the commands that are registered when it is opened.
import { useState } from "react";
import type { CommandWords } from "../commands/registry.ts";
import { paletteKey } from "../palette/palette-state.ts";
import { useStore } from "../store.ts";
import { Button } from "../ui/button/Button.tsx";
import { Checkbox } from "../ui/form/Checkbox.tsx";
import { Dialog } from "../ui/dialog/Dialog.tsx";
import { Field } from "../ui/form/Field.tsx";
import { Key } from "../ui/text/Key.tsx";
import { hasSelection, keyedCommands, selectKeys, walkKeys } from "./bindings.ts";
import { keysDialog } from "./keys-dialog.ts";
import { singleKeys } from "./keys.ts";
import { boxOf, currentRow, rows } from "./rows.ts";

type KeyEntry = { keys: readonly string[]; label: string };
type KeyGroup = { title: string; entries: readonly KeyEntry[] };

const toEntry = ({ key = "", name, label }: CommandWords): KeyEntry => ({
  keys: key.split(/[ +]/).map((part) => (part === "Escape" ? "Esc" : part)),
  label: name ?? label,
});

/** Lists each key once, with its first command. */
const toEntries = (commands: readonly CommandWords[]): KeyEntry[] =>
  [...Map.groupBy(commands, ({ key }) => key).values()].flatMap(([first]) =>
    first === undefined ? [] : [toEntry(first)],
  );

const listKeys = (all: readonly Element[]): KeyEntry[] => [
  ...walkKeys.map(toEntry),
  { keys: ["Enter"], label: "Open row" },
  ...(all.some((row) => boxOf(row) !== null) ? selectKeys.map(toEntry) : []),
];

/** Returns the keys of the page. Without a current row, the first row represents all rows. */
function keyGroups(): KeyGroup[] {
  const all = rows();
  const { selection, row, page } = keyedCommands(currentRow() ?? all[0] ?? null);
  const groups: KeyGroup[] = [
    { title: "Lists", entries: all.length === 0 ? [] : listKeys(all) },
    { title: "Selected rows", entries: hasSelection() ? toEntries(selection) : [] },
    {
      title: "Current row",
      entries: toEntries(row.filter(({ key }) => !selection.some((other) => other.key === key))),
    },
    { title: "This page", entries: toEntries(page.filter(({ element }) => element !== undefined)) },
    {
      title: "Global",
      entries: [
        { keys: paletteKey().hint.split(" "), label: "Command palette" },
        ...toEntries(page.filter(({ element }) => element === undefined)),
        { keys: ["Esc"], label: "Close dialog, menu or message" },
      ],
    },
  ];
  return groups.filter(({ entries }) => entries.length > 0);
}

function Group({ title, entries }: KeyGroup) {
  return (
    <section className="break-inside-avoid pb-5">
      <h3 className="pb-1 text-xs font-medium">{title}</h3>
      <dl>
        {entries.map(({ keys, label }) => (
          <div
            key={label}
            className="flex min-h-8 items-center justify-between gap-4 border-b border-line py-1"
          >
            <dt className="min-w-0 wrap-anywhere text-ink">{label}</dt>
            <dd>
              <span className="flex gap-1">
                {keys.map((key) => (
                  <Key key={key} isRead>
                    {key}
                  </Key>
                ))}
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Lists the keys of the current page and of every page, with a setting to turn them off. */
export function KeysDialog() {
  // Computed before the dialog takes the focus, which determines the current row.
  const [groups] = useState(() => keyGroups());
  const isOn = useStore(singleKeys);
  const close = () => keysDialog.set(false);
  return (
    <Dialog
      title="Keyboard shortcuts"
      isLong
      onClose={close}
      actions={<Button onClick={close}>Close</Button>}
    >
      <div className="mt-2 gap-x-8 sm:columns-2">
        {groups.map((group) => (
          <Group key={group.title} {...group} />
        ))}
      </div>
      <Field
        label="Single-key shortcuts"
        layout="beside"
        help="Turn off single-key shortcuts if you use dictation or press keys by accident. Shortcuts with Ctrl or ⌘, Enter and Esc stay on."
      >
        {(aria) => (
          <Checkbox
            {...aria}
            checked={isOn}
            onChange={({ target }) => singleKeys.choose(target.checked)}
          />
        )}
      </Field>
    </Dialog>
  );
}
