// Shares responses between tabs: the first tab to send a request notifies the others, which use its response instead of
// sending their own. Eight windows with one page cost the service hardly more than one; hidden tabs do not poll.

/** A message between tabs. Times are of the machine's clock, which all tabs share. */
export type TabMessage = { key: string; askedMs: number } & (
  | { kind: "asking" }
  | { kind: "answered"; data: unknown }
  | { kind: "failed" }
);

/** How long to wait for a request of another tab, which may have been closed meanwhile. */
const patienceMs = 3000;

type SharingOptions = {
  /** Sends a message to the other tabs. */
  post(message: TabMessage): void;
  /** Stores another tab's response in this tab's cache. */
  take(key: string, data: unknown): void;
  nowMs(): number;
};

type Received = { askedMs: number; settle: ((message: TabMessage | null) => void)[] };

export function createSharing({ post, take, nowMs }: SharingOptions) {
  const elsewhere = new Map<string, Received>();
  let freshAfterMs = 0;

  const isUsable = ({ askedMs }: { askedMs: number }) => askedMs >= freshAfterMs;

  /** Returns the response to another tab's running request; null where none comes that can be used. */
  function answerFromElsewhere(key: string): Promise<TabMessage | null> | null {
    const received = elsewhere.get(key);
    if (received === undefined || !isUsable(received) || nowMs() - received.askedMs > patienceMs)
      return null;
    return new Promise((resolve) => {
      received.settle.push(resolve);
      setTimeout(() => resolve(null), patienceMs);
    });
  }

  return {
    /** Sends a request, unless another tab is already waiting for its response. */
    async ask<Data>(key: string, fetch: () => Promise<Data>): Promise<Data> {
      const coming = answerFromElsewhere(key);
      // Without a pause where none is expected: the next tab must learn of this request first.
      const message = coming === null ? null : await coming;
      // Both tabs ran the same query, so the types agree.
      if (message?.kind === "answered" && isUsable(message)) return message.data as Data;
      const askedMs = nowMs();
      post({ kind: "asking", key, askedMs });
      try {
        const data = await fetch();
        post({ kind: "answered", key, askedMs, data });
        return data;
      } catch (error) {
        post({ kind: "failed", key, askedMs });
        throw error;
      }
    },

    receive(message: TabMessage): void {
      const { key, askedMs } = message;
      if (message.kind === "asking") {
        elsewhere.set(key, { askedMs, settle: [] });
        return;
      }
      const received = elsewhere.get(key);
      elsewhere.delete(key);
      for (const settle of received?.settle ?? []) settle(message);
      if (message.kind === "answered" && isUsable(message)) take(key, message.data);
    },

    /** Records a change from this tab: responses to earlier requests do not include it. */
    changed(): void {
      freshAfterMs = nowMs();
    },
  };
}

export type Sharing = ReturnType<typeof createSharing>;
