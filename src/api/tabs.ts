// Connects this tab with the others and with the browser's state: shared responses, one pace for all polls, and no
// polls while the tab is hidden or nothing can be reached.
import { type QueryClient, timeoutManager } from "@tanstack/react-query";
import { openChannel } from "./open-channel.ts";
import { createSharing, type Sharing, type TabMessage } from "./sharing.ts";
import { sessionMark } from "./session-mark.ts";
import { sessions } from "./session.ts";

/** Differs by tab, so that tabs do not poll at the same moment: the first one notifies the others before they poll. */
const slowdown = 1 + Math.random() * 0.25;

/** Messages of tabs with another session or service are ignored. */
const ownMark = () => sessionMark(sessions.current() ?? {});

type Envelope = { session: string; message: TabMessage };

/** Whether the service is on this machine, so that no network is needed. */
function isLocal(): boolean {
  const { hostname } = new URL(sessions.current()?.address || location.href, location.href);
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

const isCutOff = (): boolean => !navigator.onLine && !isLocal();

/**
 * Sets one pace for all polls, slightly slower than requested. Nothing polls while the network is down, nor during a
 * mutation: a response could restore the state from before it.
 */
export function setPollClock(client: QueryClient): void {
  const isResting = () => isCutOff() || client.isMutating() > 0;
  timeoutManager.setTimeoutProvider({
    setTimeout: (run, ms) => setTimeout(run, ms),
    clearTimeout: (id) => clearTimeout(id),
    setInterval: (run, ms) => setInterval(() => isResting() || run(), ms * slowdown),
    clearInterval: (id) => clearInterval(id),
  });
}

export function joinTabs(client: QueryClient): Sharing {
  const channel = openChannel("quarterdeck.answers");
  const sharing = createSharing({
    post(message) {
      const envelope: Envelope = { session: ownMark(), message };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin by itself
      channel?.postMessage(envelope);
    },
    take(key, data) {
      const query = client.getQueryCache().get(key);
      // Ignored where this tab does not show the data, is requesting it itself, or is changing it.
      if (query === undefined || !query.isActive() || query.state.fetchStatus !== "idle") return;
      if (client.isMutating() === 0) client.setQueryData(query.queryKey, data);
    },
    nowMs: Date.now,
  });
  channel?.addEventListener("message", ({ data }: MessageEvent<Envelope>) => {
    if (data.session === ownMark()) sharing.receive(data.message);
  });
  client.getMutationCache().subscribe(({ type }) => {
    if (type === "updated") sharing.changed();
  });
  return sharing;
}

/** Retries waiting queries at once when the network returns or the tab becomes visible. */
export function catchUpOnReturn(client: QueryClient): void {
  const catchUp = () => {
    if (document.visibilityState !== "visible") return;
    void client.refetchQueries(
      { type: "active", predicate: ({ state }) => state.fetchFailureCount > 0 },
      { cancelRefetch: true },
    );
  };
  addEventListener("online", () => {
    catchUp();
    // Even data that is a second old is from before the interruption.
    void client.refetchQueries({ type: "active" }, { cancelRefetch: false });
  });
  document.addEventListener("visibilitychange", catchUp);
}
