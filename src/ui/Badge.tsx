import type { ReactNode } from "react";
import { StatusDot } from "./StatusDot.tsx";
import { type Tone, toneSurface } from "./tone.ts";

type BadgeProps = {
  tone: Tone;
  isMoving?: boolean;
  /** More than the word says, on hover and focus. */
  tip?: string | undefined;
  /** Since when, ISO 8601; told beside the tip. */
  since?: string | undefined;
  children: ReactNode;
};

export function Badge({ tone, isMoving = false, tip, since, children }: BadgeProps) {
  return (
    <span
      className={`inline-flex h-6 items-center gap-2 rounded-full px-2.5 text-sm font-medium whitespace-nowrap ${toneSurface[tone]}`}
      data-tip={tip}
      data-since={since}
    >
      <StatusDot tone={tone} isMoving={isMoving} />
      {children}
    </span>
  );
}
