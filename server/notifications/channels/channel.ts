// The interface of all types of channels, and the message that they send.

/** A message before it has a provider's markup: plain text of any length, with any characters. */
export type Message = {
  /** The same in all attempts, e.g. `msg_2a…`. */
  id: string;
  outcome: "good" | "bad" | "neutral";
  /** Outcome first, e.g. `Backup failed: Shop on web-1`. */
  title: string;
  /** Most important first, e.g. `["Time", "2026-01-31 09:30 UTC"]`. */
  facts: readonly (readonly [label: string, value: string])[];
  /** The cause, in the words of a tool or the service. */
  reason: string | null;
  /** Absolute address of the page in the dashboard. */
  link: string | null;
};

/** A provider refused the message, or could not be reached. The error's message is for the operator, and never contains a secret. */
export class ChannelError extends Error {
  override name = "ChannelError";
  /** Whether another attempt would fail as well. */
  readonly isPermanent: boolean;
  /** Milliseconds that the provider asked to wait. */
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
   * Sends one message, truncated to the provider's limits.
   * @returns the provider's response in one line, e.g. `200 ok` or `250 2.0.0 queued as 4F1`
   * @throws ChannelError, or the signal's reason
   */
  send(message: Message, signal: AbortSignal): Promise<string>;
};
