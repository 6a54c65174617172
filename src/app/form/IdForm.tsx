// A form for an id, where the service has no list to choose from.
import { type FormEvent, useRef, useState } from "react";
import { readId } from "../../paths.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { Input } from "../../ui/form/Input.tsx";

type IdFormProps = {
  /** Accessible name of the form. */
  name: string;
  label: string;
  help?: string;
  action: string;
  /** Resolves with what is wrong with the id; null when it was accepted. */
  take: (id: number) => Promise<string | null>;
  /** See `Button`. */
  isChange?: boolean;
};

export function IdForm({ name, label, help, action, take, isChange = true }: IdFormProps) {
  const [error, setError] = useState<string | null>(null);
  const [isPending, setIsPending] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const submit = async (form: HTMLFormElement) => {
    const id = readId(input.current?.value.trim());
    setError(null);
    setIsPending(true);
    const problem = id === null ? "Enter a whole number, 1 or more." : await take(id);
    setIsPending(false);
    setError(problem);
    if (problem === null) form.reset();
    else input.current?.focus();
  };
  return (
    <form
      noValidate
      aria-label={name}
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault();
        void submit(event.currentTarget);
      }}
      className="grid max-w-xs justify-items-start gap-3 px-4 py-3 max-sm:px-3"
    >
      <Field label={label} help={help} error={error ?? undefined}>
        {(aria) => <Input {...aria} ref={input} inputMode="numeric" required />}
      </Field>
      <Button type="submit" variant="primary" isPending={isPending} isChange={isChange}>
        {action}
      </Button>
    </form>
  );
}
