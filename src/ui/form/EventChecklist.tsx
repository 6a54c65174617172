import { useId } from "react";
import { Checkbox } from "./Checkbox.tsx";

type EventChecklistProps<Event extends string> = {
  legend: string;
  events: readonly Event[];
  labelOf: (event: Event) => string;
  chosen: readonly Event[];
  onChange: (chosen: Event[]) => void;
  error?: string | undefined;
  /** Whether a click is saved at once. */
  isChange?: boolean;
};

/** A list of events to select, each with its title and its name. */
export function EventChecklist<Event extends string>({
  legend,
  events,
  labelOf,
  chosen,
  onChange,
  error,
  isChange = false,
}: EventChecklistProps<Event>) {
  const id = useId();
  return (
    <fieldset
      aria-describedby={error === undefined ? undefined : `${id}-error`}
      className="min-w-0 rounded-md border border-line px-3 py-2"
    >
      <legend className="sr-only">{legend}</legend>
      {error !== undefined && (
        <p id={`${id}-error`} role="alert" className="pb-1 text-sm text-bad">
          {error}
        </p>
      )}
      <div className="grid gap-x-6 sm:grid-cols-2">
        {events.map((event) => (
          <div key={event} className="flex min-h-8 items-center gap-2.5 text-sm">
            <Checkbox
              id={`${id}-${event}`}
              isChange={isChange}
              checked={chosen.includes(event)}
              onChange={({ target }) =>
                onChange(
                  events.filter((one) => (one === event ? target.checked : chosen.includes(one))),
                )
              }
            />
            <label htmlFor={`${id}-${event}`} className="min-w-0" data-tip={event}>
              {labelOf(event)}
            </label>
          </div>
        ))}
      </div>
    </fieldset>
  );
}
