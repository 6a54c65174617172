import { useState } from "react";
import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { Checkbox } from "../ui/Checkbox.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Field } from "../ui/Field.tsx";
import { Key } from "../ui/Key.tsx";
import { keyGroups, type KeyGroup } from "./key-list.ts";
import { keysDialog } from "./keys-dialog.ts";
import { singleKeys } from "./single-keys.ts";

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

/** The keys of the page beneath and those of every page, and the way to be rid of them. */
export function KeysDialog() {
  // Asked before the dialog has the focus, which tells the current row.
  const [groups] = useState(() => keyGroups(document));
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
