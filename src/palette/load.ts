// The code of what the palette finds. Not `lazy`, which would remember a load that failed.
export const loadPalette = async () => (await import("./Palette.tsx")).Palette;

/** Ahead of the opening; what goes wrong here is told when it is opened. */
export const prefetchPalette = (): void => {
  loadPalette().catch(() => {});
};
