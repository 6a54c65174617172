import { useState } from "react";
import type { LinkState } from "../../api/sign-in-link.ts";
import { useStore } from "../../store.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { linkState } from "./link-state.ts";

function LinkQuestion({ question }: { question: Extract<LinkState, { kind: "question" }> }) {
  const { current, other, isNew, accept, decline } = question;
  const [isPending, setIsPending] = useState(false);
  const run = () => {
    setIsPending(true);
    void accept().finally(() => setIsPending(false));
  };
  return (
    <Notice
      tone="busy"
      isAlert
      actions={
        <>
          <Button size="sm" isPending={isPending} onClick={run}>
            {isNew ? "Use the link" : `Switch to ${other ?? "the other token"}`}
          </Button>
          <Button size="sm" variant="ghost" onClick={decline}>
            Stay signed in
          </Button>
        </>
      }
    >
      {current === null ? "You are already signed in." : `You are signed in as ${current}.`}{" "}
      {isNew
        ? "Use the link to sign in with a new token?"
        : `Switch to ${other ?? "the token of the link"}?`}
    </Notice>
  );
}

/** Shows the outcome of a sign-in link, or its question. */
export function LinkNotice({ isSignedIn }: { isSignedIn: boolean }) {
  const state = useStore(linkState);
  if (state.kind === "none") return null;
  if (state.kind === "question") return isSignedIn && <LinkQuestion question={state} />;
  return (
    <Notice
      tone="bad"
      isAlert
      actions={
        isSignedIn && (
          <Button size="sm" variant="ghost" onClick={() => linkState.set({ kind: "none" })}>
            Dismiss
          </Button>
        )
      }
    >
      Couldn't sign in with the link. {state.reason}
      {isSignedIn && " You are still signed in."}
    </Notice>
  );
}
