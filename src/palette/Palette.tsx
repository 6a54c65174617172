// The command palette: goes to any page, and runs the commands of the current one. Loaded when it is first opened, or
// just before.
import { type ComponentProps, useEffect, useState } from "react";
import { useNavigate } from "react-router";
import { Key } from "../ui/text/Key.tsx";
import type { SearchInput } from "../ui/form/SearchInput.tsx";
import type { Asked, Entry } from "./entry.ts";
import { setNavigate } from "./go-to.ts";
import { arrange } from "./list.ts";
import { Results } from "./Results.tsx";
import { useSources } from "./sources.ts";

export type PaletteProps = Asked & {
  /** Props of the field, which exists before this component is loaded and may contain text by then. */
  field: ComponentProps<typeof SearchInput>;
  setText: (text: string) => void;
  /** The text at which Enter was pressed before this component was loaded; null = it was not. */
  entered: string | null;
};

function Hint({ keys, label }: { keys: readonly string[]; label: string }) {
  return (
    <span className="flex items-center gap-1.5">
      {keys.map((key) => (
        <Key key={key}>{key}</Key>
      ))}{" "}
      {label}
    </span>
  );
}

function Footer({ isOfSubject, note }: { isOfSubject: boolean; note: string | null }) {
  return (
    <p className="flex items-center gap-4 border-t border-line bg-sunken px-4 py-2 text-xs text-muted max-sm:hidden">
      <Hint keys={["↑", "↓"]} label="move" />
      <Hint keys={["↵"]} label="choose" />
      {isOfSubject ? (
        <Hint keys={["Esc"]} label="back" />
      ) : (
        <>
          <Hint keys={["→"]} label="actions" />
          <Hint keys={["Esc"]} label="close" />
        </>
      )}
      {note !== null && <span className="ms-auto animate-wait">{note}</span>}
    </p>
  );
}

/** The entry whose actions are listed, and the text with which it was found, for the way back. */
type Subject = { entry: Entry; text: string };

export function Palette({ text, from, field, setText, entered }: PaletteProps) {
  const [subject, setSubject] = useState<Subject | null>(null);
  const [isFirst, setIsFirst] = useState(true);
  const navigate = useNavigate();
  useEffect(() => setNavigate(navigate), [navigate]);
  const found = useSources({ text: subject?.text ?? text, from });
  const actions = subject?.entry.actions?.();
  const note = found.hasFailed
    ? "Couldn't search: the service is not responding."
    : found.isLoading
      ? "Searching…"
      : null;
  const changeSubject = (entry: Entry | null) => {
    setIsFirst(false);
    setText(entry === null ? (subject?.text ?? "") : "");
    setSubject(entry === null ? null : { entry, text });
  };
  return (
    <>
      <Results
        key={subject?.entry.key}
        text={text}
        field={{ ...field, ...(subject !== null && { placeholder: "Action" }) }}
        groups={arrange(text, actions === undefined ? found : { offers: actions.map(asAction) })}
        isSettled={actions !== undefined || found.isSettled}
        subject={subject?.entry ?? null}
        entered={isFirst ? entered : null}
        onSubject={changeSubject}
      />
      <Footer isOfSubject={subject !== null} note={note} />
    </>
  );
}

const asAction = (entry: Entry): Entry => ({ ...entry, group: "action" });
