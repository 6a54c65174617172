// For a service that does not list the account's channels: one is added by the id that its owner knows.
import { type FormEvent, useRef, useState } from "react";
import { toast } from "../app/toasts.ts";
import { readId } from "../paths.ts";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";
import { Input } from "../ui/Input.tsx";
import { Panel } from "../ui/Panel.tsx";
import { idTrouble } from "./channel-facts.ts";
import { channelChoice } from "./choose.ts";

type Progress = { kind: "asking" } | { kind: "saving" } | { kind: "refused"; message: string };

export function AddChannelForm({ siteId }: { siteId: number }) {
  const [progress, setProgress] = useState<Progress>({ kind: "asking" });
  const input = useRef<HTMLInputElement>(null);
  const refuse = (message: string) => {
    setProgress({ kind: "refused", message });
    input.current?.focus();
  };
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const id = readId(input.current?.value.trim());
    if (id === null) return refuse("Enter a whole number, 1 or more.");
    setProgress({ kind: "saving" });
    channelChoice({ kind: "site", id: siteId }).add(id, {
      saved: (changes) => {
        if (changes.size === 0) return refuse(`Channel ${id} is already selected.`);
        setProgress({ kind: "asking" });
        if (input.current !== null) input.current.value = "";
        toast.success(`Channel ${id} added.`);
      },
      refused: (error, _changes, sent) => refuse(idTrouble(error, id, sent)),
    });
  };
  return (
    <Panel title="Add channel by id">
      <form
        noValidate
        aria-label="Add channel by id"
        onSubmit={add}
        className="grid max-w-xs justify-items-start gap-3 px-4 py-3 max-sm:px-3"
      >
        <Field
          label="Channel id"
          help="This service doesn't list the account's channels."
          error={progress.kind === "refused" ? progress.message : undefined}
        >
          {(aria) => <Input {...aria} ref={input} inputMode="numeric" required />}
        </Field>
        <Button type="submit" variant="primary" isPending={progress.kind === "saving"}>
          Add channel
        </Button>
      </form>
    </Panel>
  );
}
