// This tab's part in sharing sessions; see `createSessionTabs`. Loaded at once by a tab without a session, else at idle.
import { openChannel } from "../api/open-channel.ts";
import { createSessionTabs } from "../api/session-tabs.ts";
import { sessions } from "../api/session.ts";

/** Something is typed on the connect page already. */
const isTyping = () =>
  [...document.querySelectorAll<HTMLInputElement>("input[type=password]")].some(
    ({ value }) => value !== "",
  );

let joined: ReturnType<typeof createSessionTabs> | null = null;

/** @param onTaken shows the page anew, for another session */
export function joinSessionTabs(onTaken: () => void): void {
  if (joined !== null) return;
  const channel = openChannel("quarterdeck.session");
  if (channel === null) return;
  joined = createSessionTabs({ sessions, channel, onTaken, isBusy: isTyping });
}

/** Resolves with whether another tab has a session, which is this tab's too then. */
export const askSessionTabs = async (): Promise<boolean> => (await joined?.ask()) ?? false;
