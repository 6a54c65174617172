import { useEffect } from "react";
import { NavigationType, useBlocker } from "react-router";
import { sessions } from "../../api/session.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Dialog } from "../../ui/dialog/Dialog.tsx";

/** State of the navigation after a save, when nothing can be lost. */
export const savedState = { isSaved: true };

export const isSaved = (state: unknown): boolean =>
  typeof state === "object" && state !== null && "isSaved" in state;

type LeaveGuardProps = {
  isDirty: boolean;
  /** E.g. "Leave without creating the worker?" */
  question: string;
  /** What is lost; default: the text of a form. */
  loss?: string;
  stay?: string;
  leave?: string;
  /** Whether the query of the URL fills in the page, so that another query discards it. */
  hasQuery?: boolean;
};

/** Asks before leaving the page loses something: form values, or a secret that is shown only once. */
export function LeaveGuard({
  isDirty,
  question,
  loss = "Your changes will be lost.",
  stay = "Keep editing",
  leave = "Discard changes",
  hasQuery = false,
}: LeaveGuardProps) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation, historyAction }) =>
      isDirty &&
      (currentLocation.pathname !== nextLocation.pathname ||
        (hasQuery && currentLocation.search !== nextLocation.search)) &&
      // Back and Forward restore the state of an earlier save.
      (historyAction === NavigationType.Pop || !isSaved(nextLocation.state)) &&
      // Without a session, nothing could be sent.
      sessions.current() !== null,
  );
  useEffect(() => {
    if (!isDirty) return;
    const askFirst = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", askFirst);
    return () => removeEventListener("beforeunload", askFirst);
  }, [isDirty]);
  if (blocker.state !== "blocked") return null;
  return (
    <Dialog
      role="alertdialog"
      title={question}
      onClose={() => blocker.reset()}
      actions={
        <>
          <Button onClick={() => blocker.reset()}>{stay}</Button>
          <Button variant="danger" isChange={false} onClick={() => blocker.proceed()}>
            {leave}
          </Button>
        </>
      }
    >
      <p>{loss}</p>
    </Dialog>
  );
}
