import { useId, useState } from "react";
import { troubleOf, type Trouble } from "../api/api-error.ts";
import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Notice } from "../ui/Notice.tsx";
import { Field } from "../ui/Field.tsx";
import { Input } from "../ui/Input.tsx";
import { RequestId } from "../ui/RequestId.tsx";
import { type Choice, type Question, question } from "./confirm.ts";

type Progress = { kind: "asking" } | { kind: "running" } | ({ kind: "failed" } & Trouble);

function Confirmation({ title, body, action, run, typed, choices }: Question) {
  const [name, setName] = useState("");
  const [choice, setChoice] = useState(choices?.options[0]?.value ?? "");
  const [progress, setProgress] = useState<Progress>({ kind: "asking" });
  const isRunning = progress.kind === "running";
  const close = () => {
    if (!isRunning) question.set(null);
  };
  const act = async () => {
    setProgress({ kind: "running" });
    try {
      await run(choice);
      question.set(null);
    } catch (error) {
      setProgress({ kind: "failed", ...troubleOf(error) });
    }
  };
  return (
    <Dialog
      role="alertdialog"
      title={title}
      onClose={close}
      actions={
        <>
          <Button onClick={close} isPending={isRunning}>
            Cancel
          </Button>
          <Button
            variant="danger"
            onClick={() => void act()}
            isPending={isRunning}
            disabledReason={
              typed === undefined || name.trim() === typed ? undefined : `Type “${typed}” first.`
            }
          >
            {action}
          </Button>
        </>
      }
    >
      {body}
      {choices !== undefined && <Choices {...choices} value={choice} onChange={setChoice} />}
      {typed !== undefined && (
        <Field label={`Type “${typed}” to confirm`}>
          {(aria) => (
            <Input {...aria} value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
      )}
      {progress.kind === "failed" && (
        <Notice tone="bad" isAlert>
          {progress.message}
          {progress.requestId !== null && <RequestId id={progress.requestId} />}
        </Notice>
      )}
    </Dialog>
  );
}

type ChoicesProps = {
  legend: string;
  options: readonly Choice[];
  value: string;
  onChange: (value: string) => void;
};

function Choices({ legend, options, value, onChange }: ChoicesProps) {
  const group = useId();
  return (
    <fieldset className="grid gap-1">
      <legend className="mb-1">{legend}</legend>
      {options.map((choice) => (
        <div
          key={choice.value}
          className="flex items-start gap-2.5 rounded-md border border-line px-3 py-2 has-checked:border-accent"
        >
          <input
            type="radio"
            id={`${group}-${choice.value}`}
            name={group}
            className="mt-1 accent-accent"
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
            aria-describedby={`${group}-${choice.value}-help`}
          />
          <div className="grid">
            <label htmlFor={`${group}-${choice.value}`} className="text-ink">
              {choice.label}
            </label>
            <span id={`${group}-${choice.value}-help`} className="text-xs">
              {choice.help}
            </span>
          </div>
        </div>
      ))}
    </fieldset>
  );
}

/** Rendered once, in the shell. */
export function ConfirmHost() {
  const open = useStore(question);
  return open === null ? null : <Confirmation {...open} />;
}
