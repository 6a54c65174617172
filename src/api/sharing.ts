// Tabs share what they ask: the first one to ask notifies the others, and they take its answer instead of asking too.
// Eight windows that show one page cost the service hardly more than one; a hidden tab asks nothing anyway.

/** What one tab sends to the others. Moments are of the machine's clock, which all tabs share. */
export type TabMessage = { key: string; askedMs: number } & (
  | { kind: "asking" }
  | { kind: "answered"; data: unknown }
  | { kind: "failed" }
);

/** Another tab's question is waited for so long; its tab may have been closed over it. */
const patienceMs = 3000;

type SharingOptions = {
  /** Tells the other tabs. */
  post(message: TabMessage): void;
  /** Puts another tab's answer where this tab looks. */
  take(key: string, data: unknown): void;
  nowMs(): number;
};

type Received = { askedMs: number; settle: ((message: TabMessage | null) => void)[] };

export function createSharing({ post, take, nowMs }: SharingOptions) {
  const elsewhere = new Map<string, Received>();
  let freshAfterMs = 0;

  const isUsable = ({ askedMs }: { askedMs: number }) => askedMs >= freshAfterMs;

  /** The answer to a question that another tab has under way; null when none comes that can be used. */
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
    /** Asks the service, unless another tab is just doing so. */
    async ask<Data>(key: string, fetch: () => Promise<Data>): Promise<Data> {
      const coming = answerFromElsewhere(key);
      // Without a pause where nothing comes: the next tab to ask must hear of this one's question.
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

    /** Something was changed from here: what was asked before now does not show it. */
    changed(): void {
      freshAfterMs = nowMs();
    },
  };
}

export type Sharing = ReturnType<typeof createSharing>;
