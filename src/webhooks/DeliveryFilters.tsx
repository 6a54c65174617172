// Filters of deliveries: status, event and id. Their values are in the URL.
import { useNavigate } from "react-router";
import { eventTypes } from "../../contract/events.ts";
import { deliveryStates } from "../../contract/webhooks/delivery.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { useTypedText } from "../app/form/typed-text.ts";
import { type DeliveriesView, paths } from "../paths.ts";
import { Field } from "../ui/form/Field.tsx";
import { handFocusOn } from "../ui/focus/hand-focus-on.ts";
import { Input } from "../ui/form/Input.tsx";
import { Select } from "../ui/form/Select.tsx";
import { eventWord } from "./webhook-facts.ts";

type DeliveryFiltersProps = {
  webhookId: number;
  view: DeliveriesView;
  counts: Readonly<Record<string, number>>;
};

export function DeliveryFilters({ webhookId, view, counts }: DeliveryFiltersProps) {
  const navigate = useNavigate();
  const { status, event, q } = view;
  const [typed, setTyped] = useTypedText(q ?? "");
  // Goes to the first page and closes the open delivery, which may not match.
  const show = (change: DeliveriesView) =>
    void navigate(
      paths.webhook(webhookId, { status, event, q, ...change, page: 1, delivery: undefined }),
    );
  return (
    <search
      aria-label="Filter deliveries"
      className="grid grid-cols-2 items-end gap-3 border-b border-line px-4 py-3 max-sm:px-3 sm:flex sm:flex-wrap"
    >
      <div className="w-full min-w-0 sm:w-40">
        <Field label="Status">
          {(aria) => (
            <Select
              {...aria}
              value={status ?? ""}
              onChange={({ target }) => show({ status: target.value || undefined })}
            >
              <option value="">All ({counts["all"] ?? 0})</option>
              {deliveryStates.map((state) => (
                <option key={state} value={state}>
                  {state} ({counts[state] ?? 0})
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <div className="w-full min-w-0 sm:w-52">
        <Field label="Event">
          {(aria) => (
            <Select
              {...aria}
              value={event ?? ""}
              onChange={({ target }) => show({ event: target.value || undefined })}
            >
              <option value="">All events</option>
              {eventTypes.map((type) => (
                <option key={type} value={type}>
                  {eventWord(type)}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <form
        className="col-span-2 w-full min-w-0 sm:w-56"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          show({ q: typed.trim() || undefined });
        }}
      >
        <Field label="Delivery or message id">
          {(aria) => (
            <Input
              {...aria}
              type="search"
              isCode
              maxLength={200}
              placeholder="Press Enter to search"
              value={typed}
              onChange={({ target }) => {
                setTyped(target.value);
                if (target.value === "" && q !== undefined) show({ q: undefined });
              }}
            />
          )}
        </Field>
      </form>
      {(status !== undefined || event !== undefined || q !== undefined) && (
        <div ref={handFocusOn} className="flex h-9 items-center">
          <LinkButton to={paths.webhook(webhookId)} onClick={() => setTyped("")}>
            Clear filters
          </LinkButton>
        </div>
      )}
    </search>
  );
}
