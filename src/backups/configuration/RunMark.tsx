import type { ReactNode } from "react";
import type { Outcome } from "./run-series.ts";

// Drawn in SVG, because forced colors remove backgrounds. The shape shows the outcome; color only repeats it.
const marks: Record<Outcome, { className: string; shape: ReactNode }> = {
  finished: {
    className: "text-good",
    shape: <rect y="6" width="12" height="12" rx="3" fill="currentColor" />,
  },
  failed: {
    className: "text-bad",
    shape: <path d="M1 7 11 17M11 7 1 17" stroke="currentColor" strokeWidth="2.5" />,
  },
  damaged: {
    className: "text-bad",
    shape: (
      <>
        <rect x="1" y="7" width="10" height="10" rx="3" fill="none" stroke="currentColor" />
        <path d="M1 17 11 7" stroke="currentColor" strokeWidth="2" />
      </>
    ),
  },
  other: {
    className: "text-busy",
    shape: <circle cx="6" cy="12" r="4.5" fill="none" stroke="currentColor" strokeWidth="2" />,
  },
};

export function RunMark({ outcome }: { outcome: Outcome }) {
  const { className, shape } = marks[outcome];
  return (
    <svg aria-hidden viewBox="0 0 12 24" className={`h-6 w-3 ${className}`}>
      {shape}
    </svg>
  );
}
