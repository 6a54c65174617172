// Go anywhere, do what the page allows. Loaded when it is first opened, or just before.
import { type KeyboardEvent, useId, useState } from "react";
import { useNavigate } from "react-router";
import { Icon } from "../ui/Icon.tsx";
import { OptionList } from "../ui/OptionList.tsx";
import { SearchInput } from "../ui/SearchInput.tsx";
import type { Group } from "./arrange.ts";
import { choose } from "./choose.ts";
import { type PaletteProps, searchWords } from "./field.ts";
import { nextPlace } from "./list-keys.ts";
import type { Hit, Part } from "./match.ts";
import { Footer, Nothing } from "./PaletteWords.tsx";
import { useGroups } from "./use-groups.ts";

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

const note = ({ hits, total }: Group) => (total > hits.length ? `${hits.length} of ${total}` : "");

export function Palette({ text, onText, from }: PaletteProps) {
  const id = useId();
  const navigate = useNavigate();
  const { groups, isWhole, isLoading } = useGroups(text, from);
  const hits = groups.flatMap((group) => group.hits);
  // Of an entry, not of a place: what comes later must not slip under the Enter that is on its way.
  const [activeKey, setActiveKey] = useState<string>();
  const first = hits[0]?.entry.key;
  if (activeKey === undefined && first !== undefined) setActiveKey(first);
  const active = Math.max(
    0,
    hits.findIndex(({ entry }) => entry.key === activeKey),
  );

  const optionId = (hit: Hit) => `${id}-${hits.indexOf(hit)}`;
  const hitOf = (option: string) => hits.find((hit) => optionId(hit) === option);
  const type = (next: string) => {
    onText(next);
    setActiveKey(undefined);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const hit = hits[active];
    if (event.key === "Enter" && hit !== undefined) {
      event.preventDefault();
      choose(hit.entry, isWhole, navigate);
      return;
    }
    const next = event.shiftKey ? null : nextPlace(event.key, active, hits.length);
    const target = next === null ? undefined : hits[next];
    if (target === undefined) return;
    event.preventDefault();
    setActiveKey(target.entry.key);
    document.getElementById(optionId(target))?.scrollIntoView({ block: "nearest" });
  };
  const activeHit = hits[active];

  return (
    <>
      <SearchInput
        {...searchWords}
        value={text}
        onChange={(event) => type(event.target.value)}
        onKeyDown={onKeyDown}
        aria-expanded={hits.length > 0}
        aria-controls={hits.length > 0 ? `${id}-list` : undefined}
        aria-activedescendant={activeHit && optionId(activeHit)}
      />
      {hits.length === 0 ? (
        <Nothing text={text} />
      ) : (
        <OptionList
          id={`${id}-list`}
          label="Results"
          activeId={activeHit && optionId(activeHit)}
          onPoint={(option) => setActiveKey(hitOf(option)?.entry.key)}
          onChoose={(option) => {
            const hit = hitOf(option);
            if (hit) choose(hit.entry, isWhole, navigate);
          }}
          groups={groups.map((group) => ({
            id: `${id}-${group.name}`,
            label: group.label,
            note: note(group),
            options: group.hits.map((hit) => ({
              id: optionId(hit),
              icon: <Icon name={hit.entry.icon} />,
              label:
                hit.entry.refusal === undefined ? <Marked parts={hit.label} /> : hit.entry.label,
              detail: hit.entry.refusal ?? <Marked parts={hit.detail} />,
              isDisabled: hit.entry.refusal !== undefined,
            })),
          }))}
        />
      )}
      <Footer isLoading={isLoading} />
      <output className="sr-only">
        {hits.length === 0
          ? "No results. Type the name of a page or an action, or an id."
          : `${hits.length} results.`}
      </output>
    </>
  );
}
