// The design's tokens, all in one place: colour, type, radius, shadow, motion. Space is Tailwind's 4 px grid.
import type { Config } from "tailwindcss";
import plugin from "tailwindcss/plugin";

/** Each colour as [light, dark]. Texts keep 4.5:1 on canvas, sunken and raised; `edge` keeps 3:1. */
const palette = {
  canvas: ["#ffffff", "#101214"],
  sunken: ["#f6f7f7", "#0b0c0e"],
  raised: ["#ffffff", "#181b1e"],
  hover: ["#14191e0d", "#ffffff0f"],
  line: ["#e4e6e8", "#25292d"],
  edge: ["#8a9097", "#666d75"],
  ink: ["#16191c", "#eceef0"],
  muted: ["#585f66", "#9aa2aa"],
  accent: ["#2457c5", "#86aaff"],
  "accent-soft": ["#e9effc", "#18233c"],
  good: ["#14693f", "#5cc98e"],
  "good-soft": ["#e6f4ec", "#10271c"],
  bad: ["#b3261e", "#ff8f85"],
  "bad-soft": ["#fdecea", "#351614"],
  warn: ["#855000", "#e9b25c"],
  "warn-soft": ["#fdf3e1", "#2c2110"],
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
    // Tailwind's own palette is left out on purpose: a colour that is not a token cannot be written.
    colors: {
      transparent: "transparent",
      current: "currentColor",
      ...Object.fromEntries(colorNames.map((name) => [name, `var(--${name})`])),
    },
    fontSize: {
      xs: ["0.75rem", "1rem"],
      sm: ["0.8125rem", "1.25rem"],
      base: ["0.875rem", "1.25rem"],
      lg: ["1rem", "1.5rem"],
      xl: ["1.25rem", "1.75rem"],
    },
    borderRadius: { none: "0", sm: "4px", md: "6px", lg: "10px", full: "9999px" },
    boxShadow: {
      none: "none",
      pop: "0 1px 2px rgb(0 0 0 / 0.08), 0 8px 28px rgb(0 0 0 / 0.14)",
    },
    extend: {
      fontFamily: {
        sans: ["system-ui", "-apple-system", '"Segoe UI"', "Roboto", '"Noto Sans"', "sans-serif"],
        mono: ["ui-monospace", '"SF Mono"', "Menlo", "Consolas", '"DejaVu Sans Mono"', "monospace"],
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
