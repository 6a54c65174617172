import type { ReactNode } from "react";
import { StatusDot } from "./StatusDot.tsx";
import { type Tone, toneSurface } from "./tone.ts";

type BadgeProps = {
  tone: Tone;
  isMoving?: boolean;
  /** More than the word says, on hover and focus. */
  tip?: string | undefined;
  /** Since when, ISO 8601; shown below the tip. */
  since?: string | undefined;
  children: ReactNode;
};

export function Badge({ tone, isMoving = false, tip, since, children }: BadgeProps) {
  const hasHelp = tip !== undefined || since !== undefined;
  return (
    <span
      className={`inline-flex h-6 items-center gap-2 rounded-full px-2.5 text-sm font-medium whitespace-nowrap ${toneSurface[tone]}`}
      data-tip={tip}
      data-since={since}
      data-has-help={hasHelp || undefined}
      // Its help must be reached by keyboard; a role that takes the focus would be read out with every state.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- see above
      tabIndex={hasHelp ? 0 : undefined}
    >
      <StatusDot tone={tone} isMoving={isMoving} />
      {children}
    </span>
  );
}
