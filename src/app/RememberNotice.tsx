import { sessions } from "../api/session.ts";
import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";

/** A token that came by link is kept for this tab; whether to keep it longer is the user's to say. */
export function RememberNotice() {
  const { isFromLink } = useStore(sessions.state);
  if (!isFromLink) return null;
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
      Connected until this tab is closed.
    </Notice>
  );
}
