// The controls above a list that the service can filter: statuses with counts, search, order, and rows per page. Their
// values are in the URL.
import { type ReactNode, useState } from "react";
import { useNavigate } from "react-router";
import { defaultPerPage, type Page } from "../../../contract/paging.ts";
import type { ListView } from "../../api/list-query.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { Link } from "../Link.tsx";
import { LinkButton } from "../LinkButton.tsx";
import type { TypedSearch } from "./typed-search.ts";
import { filterText, perPageChoices, sortChoices, tabsOf } from "./list-labels.ts";

export type ListControlsProps = {
  /** Name of the listed objects, e.g. "Workers". */
  title: string;
  meta: Page<unknown>["meta"];
  typing: TypedSearch;
  pathOf: (view: ListView) => string;
  /** The default order. */
  usual?: string;
};

/** Like other rows of links, the current one is also marked in forced colors. */
const tabClass =
  "inline-flex h-7 items-center gap-1.5 rounded-md px-2 whitespace-nowrap text-muted hover:bg-hover hover:text-ink aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent forced-colors:aria-[current]:outline-1";

function StatusTabs({ title, meta: { counts }, typing: { view }, pathOf }: ListControlsProps) {
  return (
    <nav aria-label={`${title} by status`} className="min-w-0 overflow-x-auto @max-4xl:basis-full">
      <ul className="flex gap-0.5">
        {tabsOf(counts, view.status).map(({ label, statuses, count, isCurrent }) => (
          <li key={label}>
            <Link
              to={pathOf({ ...view, page: 1, status: statuses.join(",") })}
              aria-current={isCurrent ? "true" : undefined}
              className={tabClass}
            >
              {label}
              <span className="font-normal">{count}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Search({ title, meta, typing }: ListControlsProps) {
  const { view, opened, search, settle } = typing;
  const { q: first = "" } = opened;
  // Local state, so that a letter is on screen before its results.
  const [typed, setTyped] = useState({ opened, text: first });
  return (
    <div className="relative w-56 @max-4xl:flex-1 @max-xl:w-full @max-xl:flex-none">
      <span className="pointer-events-none absolute top-2 start-2 text-muted">
        <Icon name="search" />
      </span>
      <input
        type="search"
        aria-label={`Filter ${title.toLowerCase()}`}
        placeholder="Filter…"
        maxLength={200}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        // The list may have been opened again meanwhile.
        value={typed.opened === opened ? typed.text : first}
        onChange={({ target: { value: text } }) => {
          setTyped({ opened, text });
          search(text.trim());
        }}
        onBlur={settle}
        className="h-8 w-full min-w-0 rounded-md border border-edge bg-field ps-8 pe-2 text-base text-ink pointer-coarse:text-lg placeholder:text-muted"
      />
      <output className="sr-only">
        {view.q && `${meta.total} of ${title.toLowerCase()} found`}
      </output>
    </div>
  );
}

type ChoiceProps = {
  label: string;
  value: string;
  choices: readonly { value: string; text: string }[];
  onChoose: (value: string) => void;
};

const Choice = ({ label, value, choices, onChoose }: ChoiceProps) => (
  <span className="relative block">
    <select
      aria-label={label}
      value={value}
      onChange={({ target }) => onChoose(target.value)}
      className="h-8 appearance-none rounded-md border border-transparent bg-transparent ps-2 pe-7 text-sm tracking-normal text-muted pointer-coarse:text-lg hover:bg-hover hover:text-ink"
    >
      {choices.map(({ value: one, text }) => (
        <option key={one} value={one} className="bg-raised text-ink">
          {text}
        </option>
      ))}
    </select>
    <span className="pointer-events-none absolute top-2 end-1.5 text-muted">
      <Icon name="down" />
    </span>
  </span>
);

function Order({ meta, typing: { view }, pathOf, usual = "attention" }: ListControlsProps) {
  const navigate = useNavigate();
  const sorts = meta.sorts ?? [];
  const { per_page = String(defaultPerPage) } = view;
  const sort = view.sort && sorts.includes(view.sort.replace(/^-/, "")) ? view.sort : usual;
  const show = (change: ListView) => void navigate(pathOf({ ...view, ...change, page: 1 }));
  return (
    <div className="flex @max-xl:w-full @max-xl:justify-between">
      <Choice
        label="Order"
        value={sort}
        choices={sortChoices(sorts, sort)}
        onChoose={(value) => show({ sort: value === usual ? "" : value })}
      />
      {/* With fewer rows, all sizes give the same page. */}
      {(meta.total > defaultPerPage || view.per_page) && (
        <Choice
          label="Rows per page"
          value={per_page}
          choices={perPageChoices(per_page)}
          onChoose={(value) => show({ per_page: value === String(defaultPerPage) ? "" : value })}
        />
      )}
    </div>
  );
}

/** Shown where the URL has filters that this service does not support. */
const FilterIgnored = ({ typing: { view }, pathOf }: ListControlsProps): ReactNode => (
  <Notice
    tone="warn"
    actions={
      <LinkButton size="sm" to={pathOf({})}>
        Clear filter
      </LinkButton>
    }
  >
    This service can't filter by {filterText(view)}. Showing everything.
  </Notice>
);

export function ListControls(props: ListControlsProps) {
  if (props.meta.counts === undefined) return <FilterIgnored {...props} />;
  return (
    // The statuses depend on the rows, so the line breaks must not; `ListBar` reserves as many lines.
    <div className="flex items-center gap-x-3 gap-y-1.5 @max-4xl:flex-wrap">
      <StatusTabs {...props} />
      <div className="ms-auto flex items-center gap-1 @max-4xl:w-full @max-xl:flex-wrap">
        <Search {...props} />
        <Order {...props} />
      </div>
    </div>
  );
}
