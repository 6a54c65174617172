import { useState } from "react";
import {
  type DeliveryAttempt as Attempt,
  keptAnswerBytes,
} from "../../contract/webhooks/delivery.ts";
import { Icon } from "../ui/Icon.tsx";
import { StatusDot } from "../ui/feedback/StatusDot.tsx";
import { Time } from "../ui/time/Time.tsx";
import { TextBox } from "../ui/text/TextBox.tsx";
import { prettyBody, tookText } from "./webhook-facts.ts";

const headerText = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

/** Whether the stored body may have been truncated. */
const isCut = (body: string) => new TextEncoder().encode(body).length >= keptAnswerBytes;

const isTaken = (code: number | null) => code !== null && code >= 200 && code < 300;

type AttemptProps = { attempt: Attempt; isNewest: boolean };

/** A request and its response; only the newest is open at first. */
export function DeliveryAttempt({ attempt, isNewest }: AttemptProps) {
  const { number, started_at: at, duration_ms: ms, code, error } = attempt;
  const { request_headers: sent, response_headers: came, response_body: body } = attempt;
  // Fixed at the first render, so that a new attempt does not close the one that is being read.
  const [isOpenAtFirst] = useState(isNewest);
  return (
    <details open={isOpenAtFirst} className="group border-t border-line">
      <summary className="flex min-h-9 flex-wrap items-center gap-x-2.5 px-4 py-1.5 -outline-offset-2 hover:bg-hover max-sm:px-3">
        <span className="text-muted group-open:rotate-90 rtl:group-open:-rotate-90">
          <Icon name="right" />
        </span>
        <span className="font-medium">Attempt {number}</span>
        <span className="inline-flex items-center gap-1.5">
          <StatusDot tone={isTaken(code) ? "good" : "bad"} />
          {code ?? "No response"}
        </span>
        <span className="ms-auto flex flex-wrap gap-x-2.5 text-xs text-muted">
          <span>{tookText(ms)}</span>
          <Time value={at} />
        </span>
      </summary>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 px-4 pt-1 pb-4 max-sm:px-3">
        {error !== null && <p className="text-bad">{error}</p>}
        {attempt.url && (
          <p className="text-xs wrap-anywhere text-muted">
            Sent to <span className="font-mono">{attempt.url}</span>
          </p>
        )}
        {body !== null && (
          <TextBox
            title="Response body"
            text={prettyBody(body)}
            exact={body}
            empty="Empty body."
            {...(isCut(body) && {
              note: `Only the first ${keptAnswerBytes / 1024} KiB of a response are kept.`,
            })}
          />
        )}
        {came !== null && (
          <TextBox title="Response headers" text={headerText(came)} empty="None." />
        )}
        <TextBox title="Request headers" text={headerText(sent)} empty="None." />
      </div>
    </details>
  );
}
