// The meanings of colors.

export type Tone = "good" | "busy" | "bad" | "warn" | "idle";

export const toneText: Record<Tone, string> = {
  good: "text-good",
  busy: "text-busy",
  bad: "text-bad",
  warn: "text-warn",
  idle: "text-muted",
};

export const toneSurface: Record<Tone, string> = {
  good: "bg-good-soft text-good",
  busy: "bg-busy-soft text-busy",
  bad: "bg-bad-soft text-bad",
  warn: "bg-warn-soft text-warn",
  idle: "bg-hover text-muted",
};
