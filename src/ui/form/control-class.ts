// The common frame of text fields and selects. Phones zoom into fields with text below 16 px.
export const controlClass =
  "h-9 w-full min-w-0 rounded-md border border-edge bg-field px-2.5 text-base text-ink pointer-coarse:text-lg placeholder:text-muted disabled:bg-sunken disabled:border-line disabled:text-muted aria-invalid:border-bad";
