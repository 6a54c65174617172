import { useBeforeUnload, useBlocker } from "react-router";
import { sessions } from "../api/session.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

/** Goes with the navigation that follows a success: there is nothing left to lose. */
export const savedState = { isSaved: true };

const isSaved = (state: unknown): boolean =>
  typeof state === "object" && state !== null && "isSaved" in state;

type LeaveGuardProps = {
  isDirty: boolean;
  /** E.g. "Leave without creating the worker?" */
  question: string;
};

/** Asks before a form that was changed is lost. */
export function LeaveGuard({ isDirty, question }: LeaveGuardProps) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      isDirty &&
      currentLocation.pathname !== nextLocation.pathname &&
      !isSaved(nextLocation.state) &&
      // Without a session there is nothing that could be sent.
      sessions.current() !== null,
  );
  useBeforeUnload((event) => {
    if (isDirty) event.preventDefault();
  });
  if (blocker.state !== "blocked") return null;
  return (
    <Dialog
      role="alertdialog"
      title={question}
      onClose={() => blocker.reset()}
      actions={
        <>
          <Button onClick={() => blocker.reset()}>Keep editing</Button>
          <Button variant="danger" onClick={() => blocker.proceed()}>
            Discard changes
          </Button>
        </>
      }
    >
      <p>What you have filled in is lost.</p>
    </Dialog>
  );
}
