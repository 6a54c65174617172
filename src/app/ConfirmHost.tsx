import { useState } from "react";
import { messageOf } from "../api/api-error.ts";
import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Notice } from "../ui/Notice.tsx";
import { type Question, question } from "./confirm.ts";

type Progress = { kind: "asking" } | { kind: "running" } | { kind: "failed"; message: string };

function Confirmation({ title, body, action, run }: Question) {
  const [progress, setProgress] = useState<Progress>({ kind: "asking" });
  const isRunning = progress.kind === "running";
  const close = () => {
    if (!isRunning) question.set(null);
  };
  const act = async () => {
    setProgress({ kind: "running" });
    try {
      await run();
      question.set(null);
    } catch (error) {
      setProgress({ kind: "failed", message: messageOf(error) });
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
          <Button variant="danger" onClick={() => void act()} isPending={isRunning}>
            {action}
          </Button>
        </>
      }
    >
      {body}
      {progress.kind === "failed" && (
        <Notice tone="bad" isAlert>
          {progress.message}
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
