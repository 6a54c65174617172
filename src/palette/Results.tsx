// The field and the list, separate from the search, so that moving through the list does not search again.
import { type ComponentProps, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { countOf } from "../../contract/count-text.ts";
import { Icon } from "../ui/Icon.tsx";
import { OptionList } from "../ui/dialog/OptionList.tsx";
import { SearchInput } from "../ui/form/SearchInput.tsx";
import { StatusDot } from "../ui/feedback/StatusDot.tsx";
import { choose } from "./choose.ts";
import type { Entry } from "./entry.ts";
import { statusTone } from "./hits.ts";
import { type Group, nextPlace } from "./list.ts";
import type { Hit, Part } from "./match.ts";

function Marked({ parts }: { parts: readonly Part[] }) {
  return parts.map(({ text, isMatch }, index) =>
    isMatch ? (
      // oxlint-disable-next-line react/no-array-index-key -- a part is nothing but its place
      <mark key={index}>{text}</mark>
    ) : (
      text
    ),
  );
}

function Nothing({ text }: { text: string }) {
  return (
    <div className="grid gap-1 px-4 py-6 text-muted">
      <p className="wrap-anywhere text-ink">No results for “{text.trim()}”.</p>
      <p>
        Try the name of a site, server, database or queue, an action such as “restart”, or an id:
        “12”, “worker 12”.
      </p>
    </div>
  );
}

const note = ({ hits, total }: Group) => (total > hits.length ? `${hits.length} of ${total}` : "");

function Detail({ entry, detail }: Hit) {
  if (entry.refusal !== undefined) return entry.refusal;
  if (entry.status === undefined) return <Marked parts={detail} />;
  return (
    <>
      <span className="me-2 inline-flex items-center gap-1.5 text-ink">
        <StatusDot tone={statusTone(entry.status)} />
        {entry.status}
      </span>
      <Marked parts={detail} />
    </>
  );
}

const toOption = (hit: Hit, id: string) => {
  const { entry, label } = hit;
  return {
    id,
    icon: <Icon name={entry.icon} />,
    label: entry.refusal === undefined ? <Marked parts={label} /> : entry.label,
    detail: <Detail {...hit} />,
    isDisabled: entry.refusal !== undefined,
    hasMore: entry.actions !== undefined,
  };
};

/**
 * The entry that Enter selects: the best match until the user moves. Identified by its key, because a late result must
 * not replace the one that was seen.
 * @param isSettled whether the results for the text have arrived
 */
function useActive(text: string, isSettled: boolean, hits: readonly Hit[]) {
  const first = hits[0]?.entry.key;
  const fresh = { text, isSettled, key: first, hasMoved: false };
  const [active, setActive] = useState(fresh);
  const isNews = active.isSettled !== isSettled && !active.hasMoved;
  if (active.text !== text || isNews || (active.key === undefined && first !== undefined))
    setActive(fresh);
  const place = hits.findIndex(({ entry }) => entry.key === active.key);
  const activate = (hit: Hit | undefined) =>
    setActive({ text, isSettled, key: hit?.entry.key, hasMoved: true });
  return { place: Math.max(0, place), activate, hasMoved: active.hasMoved && active.text === text };
}

type ResultsProps = {
  text: string;
  field: ComponentProps<typeof SearchInput>;
  groups: readonly Group[];
  /** False while the results for the text are loading. */
  isSettled: boolean;
  /** The entry whose actions are listed; null = the list has no actions of one entry. */
  subject: Entry | null;
  /** The text at which Enter was pressed before this component was loaded. */
  entered: string | null;
  onSubject: (entry: Entry | null) => void;
};

export function Results({
  text,
  field,
  groups,
  isSettled,
  subject,
  entered,
  onSubject,
}: ResultsProps) {
  const id = useId();
  const navigate = useNavigate();
  const hits = groups.flatMap((group) => group.hits);
  const { place: active, activate, hasMoved } = useActive(text, isSettled, hits);
  /** The text for which Enter was pressed before its results arrived. */
  const [awaited, setAwaited] = useState(entered);
  const best = hits[0]?.entry;
  const hasChosen = useRef(false);
  useEffect(() => {
    if (awaited !== text || !isSettled || hasChosen.current) return;
    hasChosen.current = true;
    if (best !== undefined) choose(best, navigate);
  }, [awaited, isSettled, text, best, navigate]);

  const optionId = (hit: Hit) => `${id}-${hits.indexOf(hit)}`;
  const hitOf = (option: string) => hits.find((hit) => optionId(hit) === option);
  const openActions = (hit: Hit | undefined): boolean => {
    if (hit?.entry.actions === undefined) return false;
    onSubject(hit.entry);
    return true;
  };

  /** @returns whether the list has handled the key */
  const press = (event: KeyboardEvent<HTMLInputElement>): boolean => {
    const { selectionStart, selectionEnd, value } = event.currentTarget;
    const hit = hits[active];
    const isAtEnd = selectionStart === value.length && selectionEnd === value.length;
    const isBack = event.key === "Escape" || (event.key === "Backspace" && value === "");
    if (subject !== null && (isBack || (event.key === "ArrowLeft" && selectionEnd === 0))) {
      onSubject(null);
      return true;
    }
    if (event.key === "Tab" || (event.key === "ArrowRight" && isAtEnd)) return openActions(hit);
    if (event.key === "Enter") {
      // A second Enter selects from the present results.
      if (!isSettled && !hasMoved && awaited !== text) {
        hasChosen.current = false;
        setAwaited(text);
      } else if (hit !== undefined) choose(hit.entry, navigate);
      return true;
    }
    const next = nextPlace(event.key, active, hits.length);
    const target = next === null ? undefined : hits[next];
    if (target === undefined) return false;
    activate(target);
    document.getElementById(optionId(target))?.scrollIntoView({ block: "nearest" });
    return true;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { ctrlKey, metaKey, altKey, shiftKey } = event;
    if (ctrlKey || metaKey || altKey || shiftKey) return;
    if (press(event)) event.preventDefault();
  };

  const activeHit = hits[active];
  const list = {
    id: `${id}-list`,
    label: subject === null ? "Results" : `Actions for ${subject.label}`,
    activeId: activeHit && optionId(activeHit),
    onPoint: (option: string) => activate(hitOf(option)),
    onChoose: (option: string) => {
      const hit = hitOf(option);
      if (hit) choose(hit.entry, navigate);
    },
    onMore: (option: string) => void openActions(hitOf(option)),
    groups: groups.map((group) => ({
      id: `${id}-${group.name}`,
      label: subject === null ? group.label : `Actions for ${subject.label}`,
      note: note(group),
      options: group.hits.map((hit) => toOption(hit, optionId(hit))),
    })),
  };
  const isEmpty = hits.length === 0;
  const spoken = isEmpty
    ? "No results. Type a name, an action, or an id."
    : `${countOf(hits.length, "result")}.${activeHit?.entry.actions ? " Tab shows actions." : ""}`;
  return (
    <>
      <SearchInput
        {...field}
        within={
          subject !== null && (
            <span className="max-w-1/2 truncate rounded-sm bg-hover px-1.5 py-0.5 text-sm text-ink">
              {subject.label}
            </span>
          )
        }
        onKeyDown={onKeyDown}
        aria-expanded={!isEmpty}
        aria-controls={isEmpty ? undefined : list.id}
        aria-activedescendant={list.activeId}
      />
      {!isEmpty && <OptionList {...list} />}
      {isEmpty && isSettled && <Nothing text={text} />}
      <output className="sr-only">{isEmpty && !isSettled ? "Searching…" : spoken}</output>
    </>
  );
}
