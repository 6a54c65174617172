import type { ReactNode } from "react";
import { StatusDot } from "./StatusDot.tsx";
import { type Tone, toneSurface } from "./tone.ts";

type BadgeProps = {
  tone: Tone;
  isMoving?: boolean;
  /** Explains the state, on hover and focus. */
  tip?: string | undefined;
  /** Since when, ISO 8601; shown below the tip. */
  since?: string | undefined;
  children: ReactNode;
};

/** Aligns the dots of pills and of plain states with each other and with the header of the column. */
const pill = "rounded-full px-2 font-medium first:in-[td]:-ms-2";

/** Good and idle states have no background, so that problems stand out in a list. */
const looks: Record<Tone, string> = {
  good: "rounded-sm",
  idle: "rounded-sm text-muted",
  busy: `${pill} ${toneSurface.busy}`,
  warn: `${pill} ${toneSurface.warn}`,
  bad: `${pill} ${toneSurface.bad}`,
};

export function Badge({ tone, isMoving = false, tip, since, children }: BadgeProps) {
  const hasHelp = tip !== undefined || since !== undefined;
  return (
    <span
      className={`inline-flex h-6 items-center gap-1.5 text-sm whitespace-nowrap ${looks[tone]}`}
      data-state
      data-tip={tip}
      data-since={since}
      data-has-help={hasHelp || undefined}
      // Keyboard users must be able to reach the tooltip. A role with focus would be read out with every state.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- see above
      tabIndex={hasHelp ? 0 : undefined}
    >
      <StatusDot tone={tone} isMoving={isMoving} />
      {children}
    </span>
  );
}
