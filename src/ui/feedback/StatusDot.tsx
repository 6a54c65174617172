import type { ReactNode } from "react";
import { type Tone, toneText } from "./tone.ts";

// One shape for each tone, because color alone is invisible to some users, and in forced colors.
const shapes: Record<Tone, ReactNode> = {
  good: <circle cx="4" cy="4" r="4" />,
  busy: <circle cx="4" cy="4" r="2.75" fill="none" stroke="currentColor" strokeWidth="2.5" />,
  bad: <rect x="0.75" y="0.75" width="6.5" height="6.5" rx="1" transform="rotate(45 4 4)" />,
  warn: <path d="M4 0 8 7.5H0z" />,
  idle: <circle cx="4" cy="4" r="3.25" fill="none" stroke="currentColor" strokeWidth="1.5" />,
};

export function StatusDot({ tone, isMoving = false }: { tone: Tone; isMoving?: boolean }) {
  return (
    <svg
      aria-hidden
      data-state
      viewBox="0 0 8 8"
      fill="currentColor"
      className={`size-2 shrink-0 overflow-visible ${toneText[tone]} ${isMoving ? "motion-safe:animate-breathe" : ""}`}
    >
      {shapes[tone]}
    </svg>
  );
}

/** At the start of a line, as wide as the icons of the lines around it. */
export function LineDot({ tone }: { tone: Tone }) {
  return (
    <span className="flex size-4 shrink-0 items-center justify-center">
      <StatusDot tone={tone} />
    </span>
  );
}
