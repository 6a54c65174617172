import type { ChannelMessage } from "../../contract/notifications/notification.ts";
import { isInTransit } from "../../contract/states.ts";
import { StateBadge } from "../app/StateBadge.tsx";
import { useClockText } from "../ui/time/clock.ts";
import { Time } from "../ui/time/Time.tsx";
import { durationText } from "../ui/time/time-text.ts";
import { messageLooks } from "./channel-facts.ts";

/** Shown by the second, because the next attempt may be near and the user waits for it. */
function NextAttempt({ at }: { at: string }) {
  const moment = new Date(at);
  const text = useClockText((nowMs) => {
    const leftMs = moment.getTime() - nowMs;
    return leftMs < 1_000 ? "Retrying now" : `Retrying in ${durationText(leftMs)}`;
  });
  return <time dateTime={at}>{text}</time>;
}

type LastMessageProps = {
  message: ChannelMessage;
  /** Why the channel cannot be used; shown next to it already. */
  trouble: string | null;
};

/** The last message to a channel, its outcome, and the provider's response. */
export function LastMessage({ message, trouble }: LastMessageProps) {
  const { status, title, count, answer, attempts } = message;
  const { created_at: at, ended_at: endedAt, next_attempt_at: nextAt } = message;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <StateBadge
          state={status}
          looks={messageLooks}
          // A message may be "retrying" for minutes without any activity.
          isMoving={isInTransit(status) && status !== "retrying"}
          since={endedAt ?? at}
        />
        <span className="min-w-0 wrap-anywhere">
          {title}
          {count > 1 && <span className="text-muted"> ({count} events)</span>}
        </span>
      </div>
      <div className="mt-1 flex flex-wrap gap-x-2 text-xs text-muted">
        {answer !== null && answer !== trouble && (
          <p className={`wrap-anywhere ${status === "failed" ? "text-bad" : ""}`}>{answer}</p>
        )}
        <Time value={endedAt ?? at} />
        {attempts > 1 && <span>{attempts} attempts</span>}
        {status === "retrying" && nextAt !== null && <NextAttempt at={nextAt} />}
      </div>
    </>
  );
}
