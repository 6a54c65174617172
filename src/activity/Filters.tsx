import { useQuery } from "@tanstack/react-query";
import { useLocation, useNavigate, useNavigation } from "react-router";
import { type Activity, activityKinds } from "../../contract/activity.ts";
import { paths } from "../paths.ts";
import { everyServerQuery, everySiteQuery, serverName, siteName } from "../app/inventory.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { handFocusOn } from "../ui/focus/hand-focus-on.ts";
import { Choice, type Option } from "./Choice.tsx";
import { MoreFilters } from "./MoreFilters.tsx";
import { type Filter, isFiltered, kindWords, readFilter, withServer } from "./filter.ts";

/** Keeps the selected option visible, even if no list has it. */
const withChosen = (options: Option[], id: number | undefined, nameOf: (id: number) => string) =>
  id === undefined || options.some(({ value }) => value === String(id))
    ? options
    : [...options, { value: String(id), label: nameOf(id) }];

const toOptions = (list: readonly { id: number; name: string }[] | undefined): Option[] =>
  (list ?? []).map(({ id, name }) => ({ value: String(id), label: name }));

const toId = (value: string) => (value === "" ? undefined : Number(value));

/** Returns the filter of a running navigation, so that a selection does not appear to jump back. */
function useWantedFilter(): Filter {
  const here = useLocation();
  const { location: next } = useNavigation();
  return readFilter((next?.pathname === here.pathname ? next : here).search);
}

type FiltersProps = {
  /** The server whose sites are listed. */
  sitesOf: number | null;
  /** Possible actors; undefined = the service supports neither search nor filters by actor and day. */
  actors: Activity["actors"];
};

export function Filters({ sitesOf, actors }: FiltersProps) {
  const filter = useWantedFilter();
  const navigate = useNavigate();
  const { data: servers } = useQuery(everyServerQuery());
  const { data: sites } = useQuery({ ...everySiteQuery(sitesOf ?? 0), enabled: sitesOf !== null });
  const show = (next: Filter) => void navigate(paths.activity(next));
  const { kind, site } = filter;
  const server = filter.server ?? (site === undefined ? undefined : (sitesOf ?? undefined));
  return (
    <search
      aria-label="Filter the timeline"
      className="grid grid-cols-2 items-end gap-3 sm:grid-cols-4 xl:grid-cols-[repeat(4,minmax(0,1fr))_9rem_9rem_14rem]"
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
          show({ ...withServer(filter, server), ...(id !== undefined && { site: id }) });
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
      {actors !== undefined && <MoreFilters filter={filter} actors={actors} show={show} />}
      {isFiltered(filter) && (
        <div ref={handFocusOn} className="flex h-9 items-center">
          <LinkButton to={paths.activity()}>Clear filters</LinkButton>
        </div>
      )}
    </search>
  );
}
