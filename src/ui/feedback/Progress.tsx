type ProgressProps = {
  label: string;
  /** From 0 to 1; null = unknown. */
  share: number | null;
};

/** A progress bar; the text next to it says what it measures. */
export function Progress({ label, share }: ProgressProps) {
  return (
    <progress
      aria-label={label}
      {...(share === null ? {} : { value: share, max: 1 })}
      className="block h-1.5 w-full appearance-none overflow-clip rounded-full bg-line indeterminate:bg-accent motion-safe:indeterminate:animate-breathe [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-transparent [&::-webkit-progress-value]:bg-accent forced-colors:bg-[GrayText] forced-colors:indeterminate:bg-[Highlight] forced-colors:[&::-moz-progress-bar]:bg-[Highlight] forced-colors:[&::-webkit-progress-value]:bg-[Highlight]"
    />
  );
}
