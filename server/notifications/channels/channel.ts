// What every kind of notification channel is to the rest of the room, and what a message is to a channel.

/** What is sent, before any provider's markup: plain text, of any length, with any characters. */
export type Message = {
  /** Identifies the message over all its attempts, e.g. `msg_2a…`. */
  id: string;
  outcome: "good" | "bad" | "neutral";
  /** Outcome first, e.g. `Backup failed: Shop on web-1`. */
  title: string;
  /** Facts in the order of their weight, e.g. `["Time", "2026-01-31 09:30 UTC"]`. */
  facts: readonly (readonly [label: string, value: string])[];
  /** Why, in a tool's or the service's own words. */
  reason: string | null;
  /** Absolute address of the page in the dashboard. */
  link: string | null;
};

/** A provider refused, or could not be reached. The message is for the operator and holds no secret. */
export class ChannelError extends Error {
  override name = "ChannelError";
  /** Trying again as it is cannot help. */
  readonly isPermanent: boolean;
  /** The provider asked not to be tried before this many milliseconds have passed. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    options: { isPermanent?: boolean; retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.isPermanent = options.isPermanent ?? false;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

export type Channel = {
  /**
   * Sends one message, cut to what the provider takes.
   * @returns the provider's response in one line, e.g. `200 ok` or `250 2.0.0 queued as 4F1`
   * @throws ChannelError, or the signal's reason
   */
  send(message: Message, signal: AbortSignal): Promise<string>;
};
