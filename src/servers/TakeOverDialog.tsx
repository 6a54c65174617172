// Confirms that a worker replaces a supervisord program, and asks for options that the program does not specify.
import { type SyntheticEvent, useId, useState } from "react";
import { useNavigate } from "react-router";
import { ApiError } from "../api/api-error.ts";
import { call } from "../api/client.ts";
import { invalidate, queryClient } from "../api/query.ts";
import { ErrorText } from "../app/ErrorText.tsx";
import { toast } from "../app/toasts.ts";
import { paths } from "../paths.ts";
import { Button } from "../ui/button/Button.tsx";
import { Dialog } from "../ui/dialog/Dialog.tsx";
import { DocsLink } from "../ui/text/DocsLink.tsx";
import { Field } from "../ui/form/Field.tsx";
import { useInvalidFocus } from "../ui/focus/focus-invalid.ts";
import { Input } from "../ui/form/Input.tsx";
import { Notice } from "../ui/feedback/Notice.tsx";
import { workerQuery } from "../workers/queries.ts";
import type { FoundQueueWorker } from "./found-entry.ts";

type TakeOverDialogProps = { serverId: number; found: FoundQueueWorker; onClose: () => void };

/** Options that Laravel reads from the site's configuration where the command lacks them. */
const asked = [
  {
    name: "connection",
    label: "Connection",
    help: "The command names none: the site's QUEUE_CONNECTION.",
    placeholder: "redis",
  },
  {
    name: "queue",
    label: "Queue",
    help: "The command names none: the connection's own queue, usually “default”.",
    placeholder: "default",
  },
] as const;

type Given = Record<(typeof asked)[number]["name"], string>;

export function TakeOverDialog({ serverId, found, onClose }: TakeOverDialogProps) {
  const formId = useId();
  const navigate = useNavigate();
  const [given, setGiven] = useState<Given>({ connection: "", queue: "" });
  const [isRunning, setIsRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { program, file, version, differences, settings } = found;
  const missing = asked.filter(({ name }) => settings[name] === undefined);
  const fields = error instanceof ApiError ? error.fields : {};
  const hasOwnPlace = missing.some(({ name }) => fields[name] !== undefined);
  const form = useInvalidFocus<HTMLFormElement>(hasOwnPlace ? fields : null);
  const close = () => {
    if (!isRunning) onClose();
  };
  const takeOver = async () => {
    setIsRunning(true);
    setError(null);
    try {
      const answers = missing.map(({ name }) => [name, given[name].trim()] as const);
      const body = { program, file, version, accept_differences: true };
      const worker = await call(
        "takeOverProgram",
        { id: serverId },
        { body: { ...body, ...Object.fromEntries(answers.filter(([, text]) => text !== "")) } },
      );
      await invalidate("listWorkers");
      queryClient.setQueryData(workerQuery(worker.id).queryKey, worker);
      toast.success(`Taking over ${program}.`);
      void navigate(paths.worker(worker.id));
    } catch (failure) {
      setError(failure);
      setIsRunning(false);
    }
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (!isRunning) void takeOver();
  };
  return (
    <Dialog
      title={`Take over ${program}?`}
      isLong
      onClose={close}
      actions={
        <>
          <Button onClick={close} isPending={isRunning}>
            Cancel
          </Button>
          <Button type="submit" form={formId} variant="primary" isPending={isRunning}>
            {isRunning ? "Taking over…" : "Take over"}
          </Button>
        </>
      }
    >
      <p>
        Quarterdeck creates a worker with the program&apos;s options and stops the program once the
        worker is up. Until then both take jobs. If the worker doesn&apos;t come up, the program
        stays as it is. <DocsLink page="inventory">Options taken over</DocsLink>
      </p>
      {differences.length > 0 && (
        <>
          <h3 className="mt-1 font-medium text-ink">Differences</h3>
          <ul className="grid list-disc gap-1 ps-5 wrap-anywhere">
            {differences.map((difference) => (
              <li key={difference}>{difference}</li>
            ))}
          </ul>
        </>
      )}
      <form
        ref={form}
        id={formId}
        noValidate
        onSubmit={submit}
        className="grid gap-3 text-ink empty:hidden"
      >
        {missing.map(({ name, label, help, placeholder }) => (
          <Field key={name} label={label} help={help} error={fields[name]?.join(" ")}>
            {(aria) => (
              <Input
                {...aria}
                isCode
                autoComplete="off"
                placeholder={placeholder}
                value={given[name]}
                onChange={({ target }) => setGiven({ ...given, [name]: target.value })}
              />
            )}
          </Field>
        ))}
      </form>
      {error !== null && !hasOwnPlace && (
        <Notice tone="bad" isAlert>
          <ErrorText error={error} />
        </Notice>
      )}
    </Dialog>
  );
}
