// The timeline: what was changed, run and delivered, when, and by whom.
import { useLoaderData } from "react-router";
import type { Activity } from "../../contract/activity.ts";
import { useLoaded } from "../api/query.ts";
import { EmptyState } from "../ui/feedback/EmptyState.tsx";
import { PageHeader } from "../ui/page/PageHeader.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { DayList } from "./DayList.tsx";
import { type Filter, isFiltered } from "./filter.ts";
import { Filters } from "./Filters.tsx";
import { LiveBar } from "./LiveBar.tsx";
import type { activityLoader } from "./loaders.ts";
import { OlderBar } from "./OlderBar.tsx";
import { useLocations } from "./entry-locations.ts";
import { timelineQuery } from "./queries.ts";
import { goneIn } from "./sentence.ts";
import { toDays } from "./days.ts";

function Empty({ filter }: { filter: Filter }) {
  if (isFiltered(filter))
    return (
      <EmptyState title="No results" art="search">
        No entries match the selected filters.
      </EmptyState>
    );
  return (
    <EmptyState title="No activity yet" art="activity">
      Activity lists every change, run and delivery, and who made it.
    </EmptyState>
  );
}

function Timeline({ filter, shown }: { filter: Filter; shown: Activity }) {
  const locationOf = useLocations(shown.data, filter);
  const gone = goneIn(shown.data);
  return (
    <Panel>
      <LiveBar filter={filter} shown={shown} />
      {shown.data.length === 0 && <Empty filter={filter} />}
      {toDays(shown.data).map((day) => (
        <DayList key={day.startMs} day={day} gone={gone} locationOf={locationOf} />
      ))}
      <OlderBar filter={filter} shown={shown} />
    </Panel>
  );
}

export function ActivityPage() {
  const { filter, sitesOf } = useLoaderData<typeof activityLoader>();
  const shown = useLoaded(timelineQuery(filter));
  return (
    <>
      <PageHeader title="Activity" />
      {shown === null ? (
        <Panel>
          <EmptyState title="No timeline" art="activity">
            This service doesn't keep a timeline.
          </EmptyState>
        </Panel>
      ) : (
        <>
          <Filters sitesOf={sitesOf} actors={shown.actors} />
          <Timeline key={JSON.stringify(filter)} filter={filter} shown={shown} />
        </>
      )}
    </>
  );
}
