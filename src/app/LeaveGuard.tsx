import { useEffect } from "react";
import { NavigationType, useBlocker } from "react-router";
import { sessions } from "../api/session.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

/** Goes with the navigation that follows a success: there is nothing left to lose. */
export const savedState = { isSaved: true };

export const isSaved = (state: unknown): boolean =>
  typeof state === "object" && state !== null && "isSaved" in state;

type LeaveGuardProps = {
  isDirty: boolean;
  /** E.g. "Leave without creating the worker?" */
  question: string;
  /** What is lost; the rest of the words fit a form. */
  loss?: string;
  stay?: string;
  leave?: string;
};

/** Asks before something is lost by leaving the page: what was filled into a form, or what is shown only once. */
export function LeaveGuard({
  isDirty,
  question,
  loss = "Your changes will be lost.",
  stay = "Keep editing",
  leave = "Discard changes",
}: LeaveGuardProps) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation, historyAction }) =>
      isDirty &&
      currentLocation.pathname !== nextLocation.pathname &&
      // Back and Forward find the state of a save before this one.
      (historyAction === NavigationType.Pop || !isSaved(nextLocation.state)) &&
      // Without a session there is nothing that could be sent.
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
