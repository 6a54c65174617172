import { eventTypes, eventWords } from "../../contract/events.ts";
import { Panel } from "../ui/Panel.tsx";

/** Everything that a webhook is told: in words, and as the request's `type` has it. */
export function EventList() {
  return (
    <Panel title="Events">
      <dl className="px-4 py-1 text-sm max-sm:px-3">
        {eventTypes.map((type) => (
          <div
            key={type}
            className="flex min-h-8 flex-wrap items-center justify-between gap-x-4 border-b border-line py-1 last:border-b-0"
          >
            <dt>{eventWords[type]}</dt>
            <dd className="font-mono text-xs text-muted">{type}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
