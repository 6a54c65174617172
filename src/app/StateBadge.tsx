// A state's word in its tone; on hover and focus what the word means, why it is so, and since when.
import type { ReactNode } from "react";
import { isInTransit } from "../../contract/states.ts";
import { lookUp } from "../look-up.ts";
import { Badge } from "../ui/Badge.tsx";
import type { Tone } from "../ui/tone.ts";

export type StateLook = { tone: Tone; help: string };

type StateBadgeProps = {
  state: string;
  /** The words that are known; another service may have others, and they are no news either way. */
  looks: Readonly<Record<string, StateLook>>;
  /** Another service's, which may mean something else by the same word. */
  isForeign?: boolean;
  /** Where there is more to it than the word says. */
  tone?: Tone | undefined;
  isMoving?: boolean;
  reason?: string | null | undefined;
  /** ISO 8601. */
  since?: string | null | undefined;
  /** What is shown instead of the word. */
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
