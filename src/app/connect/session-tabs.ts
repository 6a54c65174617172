// Shares this tab's session; see `createSessionTabs`. Loaded at once by a tab without a session, otherwise when idle.
import { openChannel } from "../../api/open-channel.ts";
import { createSessionTabs } from "../../api/session-tabs.ts";
import { sessions } from "../../api/session.ts";

/** Whether a token is being typed on the connect page. */
const isTyping = () =>
  [...document.querySelectorAll<HTMLInputElement>("input[type=password]")].some(
    ({ value }) => value !== "",
  );

let joined: ReturnType<typeof createSessionTabs> | null = null;

/** @param onTaken renders the page again for another session */
export function joinSessionTabs(onTaken: () => void): void {
  if (joined !== null) return;
  const channel = openChannel("quarterdeck.session");
  if (channel === null) return;
  joined = createSessionTabs({ sessions, channel, onTaken, isBusy: isTyping });
}

/** Resolves with whether another tab has a session, which this tab then uses, too. */
export const askSessionTabs = async (): Promise<boolean> => (await joined?.ask()) ?? false;
