import { Button } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";

/** In place of what lies above the page when its code does not come, e.g. because a newer version was installed. */
export function OverlaysMissing() {
  return (
    <div className="fixed inset-x-4 bottom-4 z-20 mx-auto max-w-xl rounded-md bg-raised shadow-pop">
      <Notice
        tone="bad"
        isAlert
        actions={<Button onClick={() => location.reload()}>Reload</Button>}
      >
        Couldn't load part of the dashboard: dialogs, messages and search are unavailable. Reload
        the page; a newer version may be installed.
      </Notice>
    </div>
  );
}
