// The design's tokens, all in one place: color, type, radius, shadow, motion. Space is Tailwind's 4 px grid.
import type { Config } from "tailwindcss";
import plugin from "tailwindcss/plugin";

/**
 * Each color as [light, dark]; `src/ui/contrast.test.ts` holds what can be read on what. The brand's hue is `brand` where
 * it fills and `accent` where it draws: what is pressed, linked, focused or plotted. States have hues of their own.
 */
export const palette = {
  canvas: ["#f6f7f9", "#0c0e12"],
  sunken: ["#eef0f3", "#08090c"],
  raised: ["#ffffff", "#15181e"],
  field: ["#ffffff", "#0f1217"],
  hover: ["#12151b0d", "#ffffff0f"],
  line: ["#dfe2e8", "#272b34"],
  edge: ["#838a97", "#6d7583"],
  ink: ["#12151b", "#eceef3"],
  muted: ["#565d6b", "#9ba2b0"],
  brand: ["#4650d6", "#5b66ec"],
  "brand-hover": ["#3942bd", "#525de0"],
  "on-brand": ["#ffffff", "#ffffff"],
  accent: ["#4048c8", "#a3adff"],
  "accent-soft": ["#eaecfc", "#1d2140"],
  busy: ["#0a6482", "#63c3e6"],
  "busy-soft": ["#e2f2f8", "#0e252f"],
  good: ["#147346", "#5cc98e"],
  "good-soft": ["#e3f3ea", "#10281d"],
  bad: ["#b3261e", "#ff8f85"],
  "bad-soft": ["#fdebe9", "#321719"],
  danger: ["#b3261e", "#c93a30"],
  "danger-hover": ["#9a1f18", "#b93229"],
  warn: ["#855000", "#e9b25c"],
  "warn-soft": ["#fcf1dd", "#2a2012"],
  mark: ["#ffe58a", "#665200"],
} as const satisfies Record<string, readonly [light: string, dark: string]>;

const colorNames = Object.keys(palette);

/** Becomes `:root`, where the system's choice of scheme picks the half of each pair. */
const variables = Object.fromEntries(
  Object.entries(palette).map(([name, [light, dark]]) => [
    `--${name}`,
    `light-dark(${light}, ${dark})`,
  ]),
);

export default {
  content: [],
  theme: {
    // Tailwind's own palette is left out on purpose: a color that is not a token cannot be written.
    colors: {
      transparent: "transparent",
      current: "currentColor",
      ...Object.fromEntries(colorNames.map((name) => [name, `var(--${name})`])),
    },
    fontSize: {
      xs: ["0.75rem", { lineHeight: "1rem", letterSpacing: "0.01em" }],
      sm: ["0.8125rem", { lineHeight: "1.25rem", letterSpacing: "0.005em" }],
      base: ["0.875rem", "1.25rem"],
      lg: ["1rem", { lineHeight: "1.5rem", letterSpacing: "-0.01em" }],
      xl: ["1.375rem", { lineHeight: "1.75rem", letterSpacing: "-0.022em" }],
      // The one large step: for the figures that a page is opened for.
      figure: ["2.25rem", { lineHeight: "2.5rem", letterSpacing: "-0.035em" }],
    },
    borderRadius: { none: "0", sm: "4px", md: "6px", lg: "10px", full: "9999px" },
    boxShadow: {
      none: "none",
      // Under what stands on the canvas. The dark scheme tells surfaces apart by their own colors.
      raised: "0 1px 2px light-dark(rgb(18 21 27 / 0.06), rgb(0 0 0 / 0.3))",
      pop: "0 1px 2px rgb(0 0 0 / 0.08), 0 8px 28px rgb(0 0 0 / 0.14)",
    },
    extend: {
      fontFamily: {
        sans: ["Geist", '"Geist fallback"', "system-ui", "sans-serif"],
        mono: ['"Geist Mono"', '"Geist Mono fallback"', "ui-monospace", "monospace"],
      },
      animation: {
        breathe: "breathe 1.8s ease-in-out infinite",
        arrive: "arrive 160ms ease-out",
        wait: "wait 200ms 300ms both",
        travel: "travel 1.2s ease-in-out infinite",
      },
      keyframes: {
        breathe: { "50%": { opacity: "0.35" } },
        arrive: { from: { opacity: "0", transform: "translateY(4px)" } },
        wait: { from: { opacity: "0" } },
        travel: { from: { transform: "translateX(-100%)" }, to: { transform: "translateX(400%)" } },
      },
    },
  },
  plugins: [
    plugin((api) => {
      api.addBase({ ":root": { colorScheme: "light dark", ...variables } });
    }),
  ],
} satisfies Config;
