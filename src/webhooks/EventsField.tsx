// The events that a webhook subscribes to: all, or a list.
import { useFormContext, useFormState, useWatch } from "react-hook-form";
import { subscribableEvents } from "../../contract/events.ts";
import type { CreateWebhookBody } from "../../contract/webhooks/bodies.ts";
import { EventChecklist } from "../ui/form/EventChecklist.tsx";
import { ChoiceList } from "../ui/form/ChoiceList.tsx";
import { eventWord } from "./webhook-facts.ts";

const options = [
  { value: "all", label: "All events", help: "Includes events that later versions add." },
  { value: "some", label: "Chosen events" },
] as const;

export function EventsField() {
  const { control, setValue } = useFormContext<CreateWebhookBody>();
  const { errors } = useFormState<CreateWebhookBody>({ name: "events" });
  const events = useWatch({ control, name: "events" }) ?? null;
  const set = (next: CreateWebhookBody["events"]) =>
    setValue("events", next, { shouldDirty: true, shouldValidate: errors.events !== undefined });
  return (
    <div className="grid gap-3">
      <ChoiceList
        legend="Events"
        options={options}
        value={events === null ? "all" : "some"}
        onChange={(value) => set(value === "all" ? null : [])}
      />
      {events !== null && (
        <EventChecklist
          legend="Chosen events"
          events={subscribableEvents}
          labelOf={eventWord}
          chosen={events}
          onChange={set}
          error={errors.events === undefined ? undefined : "Choose at least one event."}
        />
      )}
      <p className="text-sm text-muted">Pings are always sent.</p>
    </div>
  );
}
