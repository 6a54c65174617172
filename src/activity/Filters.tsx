import { useQuery } from "@tanstack/react-query";
import { useLocation, useNavigate, useNavigation } from "react-router";
import { activityKinds } from "../../contract/activity.ts";
import { paths } from "../paths.ts";
import { everyServerQuery, everySiteQuery, serverName, siteName } from "../app/inventory.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { Field } from "../ui/Field.tsx";
import { Select } from "../ui/Select.tsx";
import { type Filter, isFiltered, kindWords, readFilter, withServer } from "./filter.ts";

type Option = { value: string; label: string };

type ChoiceProps = {
  label: string;
  all: string;
  /** Instead of the options, as long as there are none to choose from. */
  hint?: string | undefined;
  options: readonly Option[];
  value: string | number | undefined;
  onChange: (value: string) => void;
};

function Choice({ label, all, hint, options, value = "", onChange }: ChoiceProps) {
  return (
    <div className="w-full min-w-0 sm:w-44">
      <Field label={label}>
        {(aria) => (
          <Select {...aria} value={value} onChange={(event) => onChange(event.target.value)}>
            <option value="">{all}</option>
            {hint !== undefined && (
              <option value="hint" disabled>
                {hint}
              </option>
            )}
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </div>
  );
}

/** What is chosen stays to be seen, even where no list names it. */
const withChosen = (options: Option[], id: number | undefined, nameOf: (id: number) => string) =>
  id === undefined || options.some(({ value }) => value === String(id))
    ? options
    : [...options, { value: String(id), label: nameOf(id) }];

const toOptions = (list: readonly { id: number; name: string }[] | undefined): Option[] =>
  (list ?? []).map(({ id, name }) => ({ value: String(id), label: name }));

const toId = (value: string) => (value === "" ? undefined : Number(value));

/** Shows where it is going already while the answer is on its way, so that no choice seems to jump back. */
function useWantedFilter(): Filter {
  const here = useLocation();
  const { location: next } = useNavigation();
  return readFilter((next?.pathname === here.pathname ? next : here).search);
}

/** @param sitesOf the server whose sites are offered */
export function Filters({ sitesOf }: { sitesOf: number | null }) {
  const filter = useWantedFilter();
  const navigate = useNavigate();
  const { data: servers } = useQuery(everyServerQuery());
  const { data: sites } = useQuery({ ...everySiteQuery(sitesOf ?? 0), enabled: sitesOf !== null });
  const show = (next: Filter) => void navigate(paths.activity(next));
  const { kind, site, ...others } = filter;
  const server = filter.server ?? (site === undefined ? undefined : (sitesOf ?? undefined));
  return (
    <search
      aria-label="Filter the timeline"
      className="grid grid-cols-2 items-end gap-3 sm:flex sm:flex-wrap"
    >
      <Choice
        label="Server"
        all="All servers"
        options={withChosen(toOptions(servers?.data), server, (id) => serverName(id, null))}
        value={server}
        onChange={(value) => show(withServer(filter, toId(value)))}
      />
      <Choice
        label="Site"
        all="All sites"
        hint={server === undefined ? "Choose a server first" : undefined}
        options={withChosen(toOptions(sites?.data), site, (id) => siteName(id, null))}
        value={site}
        onChange={(value) => {
          const id = toId(value);
          show({
            ...others,
            ...(server !== undefined && { server }),
            ...(kind !== undefined && { kind }),
            ...(id !== undefined && { site: id }),
          });
        }}
      />
      <Choice
        label="Kind"
        all="All kinds"
        options={activityKinds.map((value) => ({ value, label: kindWords[value] }))}
        value={kind}
        onChange={(value) => {
          const chosen = activityKinds.find((known) => known === value);
          const { kind: _, ...rest } = filter;
          show({ ...rest, ...(chosen !== undefined && { kind: chosen }) });
        }}
      />
      {isFiltered(filter) && (
        <div className="flex h-9 items-center">
          <LinkButton to={paths.activity()}>Clear filters</LinkButton>
        </div>
      )}
    </search>
  );
}
