import { useEffect, useState } from "react";
import { describeError, type ErrorDescription } from "../api/api-error.ts";
import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { bringIntoView } from "../ui/bring-into-view.ts";
import { Notice } from "../ui/Notice.tsx";
import { RequestId } from "../ui/RequestId.tsx";
import { type Question, question } from "./confirm.ts";
import { ConfirmFields, useAnswer } from "./ConfirmFields.tsx";

type Progress = { kind: "asking" } | { kind: "running" } | ({ kind: "failed" } & ErrorDescription);

function Confirmation({ title, body, action, run, typed, choices }: Question) {
  const [answer, setAnswer] = useAnswer({ typed, choices });
  const [progress, setProgress] = useState<Progress>({ kind: "asking" });
  const isRunning = progress.kind === "running";
  const close = () => {
    if (!isRunning) question.set(null);
  };
  const act = async () => {
    if (isRunning) return;
    setProgress({ kind: "running" });
    try {
      await run(answer.choice);
      question.set(null);
    } catch (error) {
      setProgress({ kind: "failed", ...describeError(error) });
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
            disabledReason={answer.refusal}
          >
            {action}
          </Button>
        </>
      }
    >
      {body}
      <ConfirmFields
        typed={typed}
        choices={choices}
        answer={answer}
        onAnswer={setAnswer}
        onSubmit={() => void act()}
      />
      {progress.kind === "failed" && (
        <div ref={bringIntoView} className="scroll-my-24">
          <Notice tone="bad" isAlert>
            {progress.message}
            {progress.requestId !== null && <RequestId id={progress.requestId} />}
          </Notice>
        </div>
      )}
    </Dialog>
  );
}

/** Rendered once, in the shell. */
export function ConfirmHost() {
  const open = useStore(question);
  // A session that ends takes its question along.
  useEffect(() => () => question.set(null), []);
  return open === null ? null : <Confirmation {...open} />;
}
