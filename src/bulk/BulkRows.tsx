import type { ReactNode } from "react";
import { RequestId } from "../ui/text/RequestId.tsx";
import { StatusDot } from "../ui/feedback/StatusDot.tsx";
import type { Tone } from "../ui/feedback/tone.ts";
import type { Result } from "./bulk-run.ts";
import type { BulkRow } from "./current-task.ts";

type Named = Omit<BulkRow, "id">;

const looks: Record<Result["kind"], { tone: Tone; word: string }> = {
  waiting: { tone: "idle", word: "waiting" },
  asked: { tone: "busy", word: "requested" },
  done: { tone: "good", word: "done" },
  skipped: { tone: "idle", word: "skipped" },
  refused: { tone: "bad", word: "refused" },
  failed: { tone: "warn", word: "failed" },
  moving: { tone: "busy", word: "running" },
  ended: { tone: "good", word: "done" },
  broken: { tone: "bad", word: "failed" },
};

type ResultRowProps = Named & {
  /** Undefined before the run has begun. */
  result?: Result | undefined;
  /** The word for a finished row. */
  done: string;
};

export function ResultRow({ result, done, ...named }: ResultRowProps) {
  const look = result && looks[result.kind];
  const word = result && "word" in result ? result.word : null;
  return (
    <Row
      {...named}
      state={
        look && (
          <span className="flex items-center gap-2 whitespace-nowrap">
            <StatusDot tone={look.tone} isMoving={look.tone === "busy"} />
            {word ?? (result?.kind === "done" || result?.kind === "ended" ? done : look.word)}
          </span>
        )
      }
      {...(result &&
        "reason" in result && {
          reason: result.reason ?? undefined,
          requestId: "requestId" in result ? result.requestId : null,
        })}
    />
  );
}

type RowProps = Named & {
  state?: ReactNode;
  reason?: string | undefined;
  requestId?: string | null;
};

export function Row({ name, detail, state, reason, requestId = null }: RowProps) {
  return (
    <li className="border-b border-line py-1.5 last:border-b-0">
      <div className="flex min-h-5 flex-wrap justify-between gap-x-4">
        <p className="flex min-w-0 flex-wrap gap-x-2 wrap-anywhere">
          <span className="text-ink">{name}</span>
          <span className="text-sm">{detail}</span>
        </p>
        {state}
      </div>
      {reason !== undefined && <p className="text-sm wrap-anywhere">{reason}</p>}
      {requestId !== null && <RequestId id={requestId} />}
    </li>
  );
}
