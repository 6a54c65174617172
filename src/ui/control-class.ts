// The frame that text fields and choices share.
export const controlClass =
  "h-9 w-full min-w-0 rounded-md border border-edge bg-field px-2.5 text-base text-ink placeholder:text-muted disabled:bg-sunken disabled:border-line disabled:text-muted aria-invalid:border-bad";
