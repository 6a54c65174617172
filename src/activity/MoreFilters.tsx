// Filters of the timeline that not every service supports: search, actor, and days.
import type { Activity } from "../../contract/activity.ts";
import { useTypedText } from "../app/form/typed-text.ts";
import { Field } from "../ui/form/Field.tsx";
import { Input } from "../ui/form/Input.tsx";
import { Choice } from "./Choice.tsx";
import { DayField } from "./DayField.tsx";
import type { Filter } from "./filter.ts";

type MoreFiltersProps = {
  filter: Filter;
  actors: NonNullable<Activity["actors"]>;
  show: (filter: Filter) => void;
};

type TextName = "actor" | "q" | "from" | "to";

export function MoreFilters({ filter, actors, show }: MoreFiltersProps) {
  const [typed, setTyped] = useTypedText(filter.q ?? "");
  const set = (name: TextName, value: string) => {
    const { [name]: _before, ...others } = filter;
    show({ ...others, ...(value !== "" && { [name]: value }) });
  };
  // Keeps the selected actor visible, even if no entry has it any more.
  const names = new Set([...actors.map(({ name }) => name), filter.actor ?? ""]);
  return (
    <>
      <Choice
        label="Person"
        all="Everyone"
        options={[...names]
          .filter((name) => name !== "")
          .map((name) => ({ value: name, label: name }))}
        value={filter.actor}
        onChange={(name) => set("actor", name)}
      />
      <DayField
        label="From"
        day={filter.from}
        max={filter.to}
        onChange={(day) => set("from", day)}
      />
      <DayField label="To" day={filter.to} min={filter.from} onChange={(day) => set("to", day)} />
      <form
        className="col-span-2 min-w-0 xl:col-span-1"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          set("q", typed.trim());
        }}
      >
        <Field label="Search">
          {(aria) => (
            <Input
              {...aria}
              type="search"
              maxLength={200}
              placeholder="Press Enter to search"
              value={typed}
              onChange={({ target }) => {
                setTyped(target.value);
                if (target.value === "" && filter.q !== undefined) set("q", "");
              }}
            />
          )}
        </Field>
      </form>
    </>
  );
}
