// Shows a state in its tone; a tooltip explains the state, why, and since when.
import type { ReactNode } from "react";
import { isInTransit } from "../../contract/states.ts";
import { lookUp } from "../look-up.ts";
import { Badge } from "../ui/feedback/Badge.tsx";
import type { Tone } from "../ui/feedback/tone.ts";

export type StateLook = { tone: Tone; help: string };

type StateBadgeProps = {
  state: string;
  /** Known states. Another service may have others, which are shown neutrally. */
  looks: Readonly<Record<string, StateLook>>;
  /** Whether the state is of another service, which may use the same word differently. */
  isForeign?: boolean;
  /** Overrides the state's tone, where there is more to it. */
  tone?: Tone | undefined;
  isMoving?: boolean;
  reason?: string | null | undefined;
  /** ISO 8601. */
  since?: string | null | undefined;
  /** Shown instead of the state's word. */
  children?: ReactNode;
};

export function StateBadge({
  state,
  looks,
  isForeign = false,
  tone,
  isMoving = isInTransit(state),
  reason,
  since,
  children = state,
}: StateBadgeProps) {
  const look = lookUp(looks, state);
  const tip = [isForeign ? null : look?.help, reason];
  return (
    <Badge
      tone={tone ?? look?.tone ?? (isMoving ? "busy" : "idle")}
      isMoving={isMoving}
      tip={tip.filter(Boolean).join("\n") || undefined}
      since={since ?? undefined}
    >
      {children}
    </Badge>
  );
}
