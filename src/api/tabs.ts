// Joins this tab with the others and with the browser's state: shared answers, one pace for all polls, and
// nothing asked while nobody looks or nothing can be reached.
import { type QueryClient, timeoutManager } from "@tanstack/react-query";
import { openChannel } from "./open-channel.ts";
import { createSharing, type Sharing, type TabMessage } from "./sharing.ts";
import { sessionMark } from "./session-mark.ts";
import { sessions } from "./session.ts";

/** No two tabs poll at the same moment: the first one notifies the others before their turn. */
const slowdown = 1 + Math.random() * 0.25;

/** Tabs of another session or service are none of ours. */
const ownMark = () => sessionMark(sessions.current() ?? {});

type Envelope = { session: string; message: TabMessage };

/** Whether the service is on this very machine, which needs no network. */
function isLocal(): boolean {
  const { hostname } = new URL(sessions.current()?.address || location.href, location.href);
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

const isCutOff = (): boolean => !navigator.onLine && !isLocal();

/**
 * One pace for all polls, a little slower than asked for. None while nothing can be reached, and none while a change is
 * under way: it would bring back the state from before it.
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
      // What this tab does not show, is asking itself or is about to change is left alone.
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

/** Tries at once what waits for its next attempt, when the network or the eye of the user is back. */
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
    // Even what was read a second ago is from before the gap.
    void client.refetchQueries({ type: "active" }, { cancelRefetch: false });
  });
  document.addEventListener("visibilitychange", catchUp);
}
