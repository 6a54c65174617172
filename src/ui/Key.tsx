/** A key of the keyboard, or several pressed at once. For the eyes: whoever listens is told by the control itself. */
export function Key({ children }: { children: string }) {
  return (
    <kbd
      aria-hidden
      className="inline-flex h-5 min-w-5 shrink-0 items-center justify-center rounded-sm border border-line bg-canvas px-1 font-sans text-xs whitespace-nowrap text-muted"
    >
      {children}
    </kbd>
  );
}
