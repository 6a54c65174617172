// Tabs of one browser share their session, in memory: who opens another tab is connected there too, and who disconnects is
// disconnected in all. Nothing more is stored than one tab alone stores.
//
// What is shared is the token together with the address that it belongs to, so that it is never sent anywhere else. A
// channel is heard by pages of this origin alone, and they could read the session of a tab anyway.
import type { Session } from "./kept-session.ts";
import type { SessionEnd, Sessions } from "./session.ts";
import { sessionMark } from "./session-mark.ts";

type Word =
  | { kind: "ask" }
  | { kind: "answer"; session: Session }
  /** @param mark whose session it was, without its token */
  | { kind: "ended"; mark: string; reason: SessionEnd | null }
  | { kind: "connected" };

/** A tab that has just been started waits so long before it shows the connect page. Others answer within a few ms. */
const usualWaitMs = 100;
/** The service that the dashboard came from comes first: a tab that shows another one lets those answer before it. */
const foreignMs = 30;

type SessionTabsOptions = {
  sessions: Sessions;
  channel: Pick<BroadcastChannel, "postMessage" | "addEventListener">;
  /** The page has a session now that it did not ask for by itself. */
  onTaken: () => void;
  /** Whether the user is about to connect by hand, which nothing may interrupt. */
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

  /** What another tab has said is not said again. */
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
    // Somebody else has answered, be it this tab's own question or another's.
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
        // Whoever came to connect by hand, or has disconnected here, goes on by hand.
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
    // One that came by a link may still be refused; whoever asks later gets what is left then.
    if (!isEcho && session !== null && before === null && fromLink === null)
      post({ kind: "connected" });
    before = session;
  });

  return {
    /** Resolves with whether another tab has a session, which is this tab's too then. A late answer counts as well. */
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
