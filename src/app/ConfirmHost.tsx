import { useState } from "react";
import { troubleOf, type Trouble } from "../api/api-error.ts";
import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { ChoiceList } from "../ui/ChoiceList.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Notice } from "../ui/Notice.tsx";
import { Field } from "../ui/Field.tsx";
import { Input } from "../ui/Input.tsx";
import { RequestId } from "../ui/RequestId.tsx";
import { type Question, question } from "./confirm.ts";

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
      {choices !== undefined && <ChoiceList {...choices} value={choice} onChange={setChoice} />}
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

/** Rendered once, in the shell. */
export function ConfirmHost() {
  const open = useStore(question);
  return open === null ? null : <Confirmation {...open} />;
}
