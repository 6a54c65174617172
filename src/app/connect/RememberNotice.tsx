import { sessions } from "../../api/session.ts";
import { useStore } from "../../store.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";

/** Offers to remember a session from a link, which is otherwise stored for this tab only. */
export function RememberNotice() {
  const { fromLink } = useStore(sessions.state);
  if (fromLink === null) return null;
  return (
    <Notice
      tone="busy"
      actions={
        <>
          <Button size="sm" onClick={() => sessions.remember()}>
            Remember on this device
          </Button>
          <Button size="sm" variant="ghost" onClick={() => sessions.dismissOffer()}>
            Not now
          </Button>
        </>
      }
    >
      Connected until you close the last tab.
      {fromLink === "code" && " The link works only once. Remember this device or create a token."}
    </Notice>
  );
}
