// Tests the contrast that WCAG 2.2 requires, on every surface and in both schemes: 4.5:1 for texts, 3:1 for edges.
import { describe, expect, test } from "vitest";
import { palette } from "../../tailwind.config.ts";

type Name = keyof typeof palette;
type Rgb = readonly number[];

const schemes = [
  ["light", 0],
  ["dark", 1],
] as const;

const channels = (hex: string): Rgb =>
  (hex.slice(1).match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16) / 255);

/** Returns the opaque color that a transparent one results in over another. */
function over(top: string, [...below]: Rgb): Rgb {
  const [red = 0, green = 0, blue = 0, alpha = 1] = channels(top);
  return [red, green, blue].map((part, index) => part * alpha + (below[index] ?? 0) * (1 - alpha));
}

function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Rgb, other: Rgb): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const plain: Name[] = ["canvas", "sunken", "raised"];
/** Surfaces on which controls are placed. */
const grounds = new Set(["canvas", "sunken", "raised", "field", "raised, hovered"]);
const soft: Name[] = ["accent-soft", "busy-soft", "good-soft", "bad-soft", "warn-soft"];
const texts: Name[] = ["ink", "muted", "accent", "busy", "good", "bad", "warn"];

describe.each(schemes)("%s", (_scheme, half) => {
  const color = (name: Name) => channels(palette[name][half]);
  const surfaces = [
    ...[...plain, "field" as const, ...soft].map((name) => [name, color(name)] as const),
    ...plain.map((name) => [`${name}, hovered`, over(palette.hover[half], color(name))] as const),
  ];

  test.each(texts)("text in %s is readable on every surface", (name) => {
    for (const [surface, below] of surfaces)
      expect(contrast(color(name), below), surface).toBeGreaterThanOrEqual(4.5);
  });

  test.each(["edge", "brand"] as const)("%s is a visible border on every surface", (name) => {
    for (const [surface, below] of surfaces.filter(([surface]) => grounds.has(surface)))
      expect(contrast(color(name), below), surface).toBeGreaterThanOrEqual(3);
  });

  test.each(["brand", "brand-hover", "danger", "danger-hover"] as const)(
    "the label of a button is readable on %s",
    (name) => expect(contrast(color("on-brand"), color(name))).toBeGreaterThanOrEqual(4.5),
  );

  test("a search match is readable", () =>
    expect(contrast(color("ink"), color("mark"))).toBeGreaterThanOrEqual(4.5));

  test("raised surfaces differ from the canvas", () =>
    expect(contrast(color("raised"), color("canvas"))).toBeGreaterThan(1.05));
});
