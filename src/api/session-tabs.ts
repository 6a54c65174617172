// Tabs of one browser share their session in memory: a new tab is connected like the others, and disconnecting one
// disconnects all. Nothing more is stored than by a single tab. The token is shared with the address that it belongs
// to, so that it is never sent elsewhere. Only pages of this origin receive the channel, and they could read the
// session of a tab anyway.
import type { Session } from "./kept-session.ts";
import type { SessionEnd, Sessions } from "./session.ts";
import { sessionMark } from "./session-mark.ts";

type Word =
  | { kind: "ask" }
  | { kind: "answer"; session: Session }
  /** @param mark identifies the session without its token */
  | { kind: "ended"; mark: string; reason: SessionEnd | null }
  | { kind: "connected" };

/** How long a new tab waits before it shows the connect page. Other tabs answer within a few ms. */
const usualWaitMs = 100;
/** Delay of tabs with a service of another origin, so that tabs with the dashboard's own service answer first. */
const foreignMs = 30;

type SessionTabsOptions = {
  sessions: Sessions;
  channel: Pick<BroadcastChannel, "postMessage" | "addEventListener">;
  /** Called when the page gets a session from another tab. */
  onTaken: () => void;
  /** Whether the user is typing on the connect page, which must not be interrupted. */
  isBusy: () => boolean;
  /** How long `ask` waits for an answer. */
  waitMs?: number;
};

export function createSessionTabs({
  sessions,
  channel,
  onTaken,
  isBusy,
  waitMs = usualWaitMs,
}: SessionTabsOptions) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin by itself
  const post = (word: Word) => channel.postMessage(word);
  let isAsking = false;
  let answered: () => void = () => {};
  let answering: ReturnType<typeof setTimeout> | undefined;
  let before = sessions.current();
  let isEcho = false;

  /** Makes a change without broadcasting it, because it came from another tab. */
  function quietly(change: () => void): void {
    isEcho = true;
    change();
    isEcho = false;
  }

  function ask(): void {
    isAsking = true;
    post({ kind: "ask" });
  }

  function answer(): void {
    const session = sessions.current();
    if (session === null) return;
    const send = () => {
      const now = sessions.current();
      if (now !== null) post({ kind: "answer", session: now });
    };
    clearTimeout(answering);
    if (session.address === "") send();
    else answering = setTimeout(send, foreignMs);
  }

  function take(session: Session): void {
    // Another tab has answered this tab's question or another tab's, so this tab does not need to.
    clearTimeout(answering);
    if (!isAsking || sessions.current() !== null || isBusy()) return;
    isAsking = false;
    quietly(() => sessions.adopt(session));
    answered();
    onTaken();
  }

  channel.addEventListener("message", ({ data }: MessageEvent<Word>) => {
    switch (data.kind) {
      case "ask":
        return answer();
      case "answer":
        return take(data.session);
      case "connected":
        // A user who is connecting by hand, or has disconnected here, must not be connected automatically.
        return sessions.state.get().ended === null || isBusy() ? undefined : ask();
      case "ended": {
        const session = sessions.current();
        if (session === null || sessionMark(session) !== data.mark) return undefined;
        quietly(() => sessions.end(session.token, data.reason ?? "elsewhere"));
      }
    }
  });

  sessions.state.subscribe(() => {
    const { session, ended, fromLink } = sessions.state.get();
    if (session !== null) isAsking = false;
    if (!isEcho && session === null && before !== null)
      post({ kind: "ended", mark: sessionMark(before), reason: ended });
    // A token from a link may still be refused, so it is not announced; a later question is answered with what is left.
    if (!isEcho && session !== null && before === null && fromLink === null)
      post({ kind: "connected" });
    before = session;
  });

  return {
    /**
     * Resolves with whether another tab has a session, which this tab then uses, too. A late answer is also accepted.
     */
    ask: (): Promise<boolean> =>
      new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), waitMs);
        answered = () => {
          clearTimeout(timer);
          resolve(true);
        };
        ask();
      }),
  };
}
