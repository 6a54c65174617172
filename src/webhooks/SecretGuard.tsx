import { useBeforeUnload, useBlocker } from "react-router";
import { sessions } from "../api/session.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

/** Asks before a secret is lost that nobody has taken along: unlike a form, it cannot be filled in again. */
export function SecretGuard({ isKept }: { isKept: boolean }) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      !isKept &&
      currentLocation.pathname !== nextLocation.pathname &&
      // Without a session the page is gone already.
      sessions.current() !== null,
  );
  useBeforeUnload((event) => {
    if (!isKept) event.preventDefault();
  });
  if (blocker.state !== "blocked") return null;
  return (
    <Dialog
      role="alertdialog"
      title="Leave without the secret?"
      onClose={() => blocker.reset()}
      actions={
        <>
          <Button onClick={() => blocker.reset()}>Stay</Button>
          <Button variant="danger" onClick={() => blocker.proceed()}>
            Leave without it
          </Button>
        </>
      }
    >
      <p>It was not copied, and it is never shown again. Without it a receiver verifies nothing.</p>
    </Dialog>
  );
}
