import { useEffect, useState } from "react";
import { useStore } from "../../store.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Dialog } from "../../ui/dialog/Dialog.tsx";
import { bringIntoView } from "../../ui/focus/bring-into-view.ts";
import { useInvalidFocus } from "../../ui/focus/focus-invalid.ts";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { type Question, question } from "../confirm.ts";
import { ConfirmFields, useAnswer } from "../ConfirmFields.tsx";
import { ErrorText } from "../ErrorText.tsx";

type Progress =
  | { kind: "asking" | "running" }
  | { kind: "failed"; error: unknown }
  | { kind: "at-field" };

function Confirmation({ title, body, action, run, isAtField, typed, choices }: Question) {
  const [answer, setAnswer] = useAnswer({ typed, choices });
  const [progress, setProgress] = useState<Progress>({ kind: "asking" });
  const isRunning = progress.kind === "running";
  const fields = useInvalidFocus<HTMLDivElement>(progress.kind === "at-field" ? progress : null);
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
      setProgress(isAtField?.(error) === true ? { kind: "at-field" } : { kind: "failed", error });
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
      <div ref={fields} className="contents">
        {body}
      </div>
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
            <ErrorText error={progress.error} />
          </Notice>
        </div>
      )}
    </Dialog>
  );
}

/** Rendered once, in the shell. */
export function ConfirmHost() {
  const open = useStore(question);
  // The question is closed when the session ends.
  useEffect(() => () => question.set(null), []);
  return open === null ? null : <Confirmation {...open} />;
}
