// Go anywhere, do what the page allows. Loaded when it is first opened, or just before.
import { type ComponentProps, type KeyboardEvent, useId, useState } from "react";
import { useNavigate } from "react-router";
import { Icon } from "../ui/Icon.tsx";
import { Key } from "../ui/Key.tsx";
import { OptionList } from "../ui/OptionList.tsx";
import { SearchInput } from "../ui/SearchInput.tsx";
import { choose } from "./choose.ts";
import type { Asked } from "./entry.ts";
import { arrange, type Group, nextPlace } from "./list.ts";
import type { Hit, Part } from "./match.ts";
import { useSources } from "./sources.ts";

export type PaletteProps = Asked & {
  /** The field is there before this part is loaded, and something may be typed in it by then. */
  field: ComponentProps<typeof SearchInput>;
};

function Marked({ parts }: { parts: readonly Part[] }) {
  return parts.map(({ text, isMatch }, index) =>
    isMatch ? (
      // oxlint-disable-next-line react/no-array-index-key -- a part is nothing but its place
      <mark key={index} className="text-ink">
        {text}
      </mark>
    ) : (
      text
    ),
  );
}

function Footer({ isLoading }: { isLoading: boolean }) {
  return (
    <p className="flex items-center gap-4 border-t border-line bg-sunken px-4 py-2 text-xs text-muted max-sm:hidden">
      <span className="flex items-center gap-1.5">
        <Key>↑</Key>
        <Key>↓</Key> move
      </span>
      <span className="flex items-center gap-1.5">
        <Key>↵</Key> choose
      </span>
      <span className="flex items-center gap-1.5">
        <Key>Esc</Key> close
      </span>
      {isLoading && <span className="ms-auto animate-wait">Loading servers and sites…</span>}
    </p>
  );
}

function Nothing({ text }: { text: string }) {
  return (
    <div className="grid gap-1 px-4 py-6 text-muted">
      <p className="wrap-anywhere text-ink">No results for “{text.trim()}”.</p>
      <p>
        Try a page or an action, such as “webhooks” or “restart 7”, or an id: “12”, “worker 12”,
        “site 3”.
      </p>
    </div>
  );
}

const note = ({ hits, total }: Group) => (total > hits.length ? `${hits.length} of ${total}` : "");

const toOption = ({ entry, label, detail }: Hit, id: string) => ({
  id,
  icon: <Icon name={entry.icon} />,
  label: entry.refusal === undefined ? <Marked parts={label} /> : entry.label,
  detail: entry.refusal ?? <Marked parts={detail} />,
  isDisabled: entry.refusal !== undefined,
});

/** The entry that Enter chooses, by its key: what comes later must not slip under the Enter that is on its way. */
function useActive(text: string, hits: readonly Hit[]) {
  const first = hits[0]?.entry.key;
  const [active, setActive] = useState({ text, key: first });
  if (active.text !== text || (active.key === undefined && first !== undefined))
    setActive({ text, key: first });
  const place = hits.findIndex(({ entry }) => entry.key === active.key);
  const activate = (hit: Hit | undefined) => setActive({ text, key: hit?.entry.key });
  return [Math.max(0, place), activate] as const;
}

type ResultsProps = Pick<PaletteProps, "text" | "field"> & { groups: readonly Group[] };

/** The field and the list, apart from the search: moving through the list searches for nothing. */
function Results({ text, field, groups }: ResultsProps) {
  const id = useId();
  const navigate = useNavigate();
  const hits = groups.flatMap((group) => group.hits);
  const [active, activate] = useActive(text, hits);
  const optionId = (hit: Hit) => `${id}-${hits.indexOf(hit)}`;
  const hitOf = (option: string) => hits.find((hit) => optionId(hit) === option);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const hit = hits[active];
    if (event.key === "Enter" && hit !== undefined) {
      event.preventDefault();
      choose(hit.entry, navigate);
      return;
    }
    const next = event.shiftKey ? null : nextPlace(event.key, active, hits.length);
    const target = next === null ? undefined : hits[next];
    if (target === undefined) return;
    event.preventDefault();
    activate(target);
    document.getElementById(optionId(target))?.scrollIntoView({ block: "nearest" });
  };
  const activeHit = hits[active];
  const list = {
    id: `${id}-list`,
    label: "Results",
    activeId: activeHit && optionId(activeHit),
    onPoint: (option: string) => activate(hitOf(option)),
    onChoose: (option: string) => {
      const hit = hitOf(option);
      if (hit) choose(hit.entry, navigate);
    },
    groups: groups.map((group) => ({
      id: `${id}-${group.name}`,
      label: group.label,
      note: note(group),
      options: group.hits.map((hit) => toOption(hit, optionId(hit))),
    })),
  };
  return (
    <>
      <SearchInput
        {...field}
        onKeyDown={onKeyDown}
        aria-expanded={hits.length > 0}
        aria-controls={hits.length > 0 ? list.id : undefined}
        aria-activedescendant={list.activeId}
      />
      {hits.length === 0 ? <Nothing text={text} /> : <OptionList {...list} />}
      <output className="sr-only">
        {hits.length === 0
          ? "No results. Type the name of a page or an action, or an id."
          : `${hits.length} results.`}
      </output>
    </>
  );
}

export function Palette({ text, from, field }: PaletteProps) {
  const found = useSources({ text, from });
  return (
    <>
      <Results text={text} field={field} groups={arrange(text, found)} />
      <Footer isLoading={found.isLoading} />
    </>
  );
}
