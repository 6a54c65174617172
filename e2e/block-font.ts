// Renders a page in Flow Block, in which every letter is a block: screenshots are the same on machines with different
// fonts, and still show position, size, weight and color of text.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(
  import.meta.resolve("@fontsource/flow-block/files/flow-block-latin-400-normal.woff2"),
);
const url = `data:font/woff2;base64,${readFileSync(file).toString("base64")}`;

const fontFace = (family: string, weights: string, sizePercent: number) =>
  `@font-face { font-family: "${family}"; font-weight: ${weights}; src: url("${url}");
     size-adjust: ${sizePercent}%; ascent-override: 80%; descent-override: 20%; }`;

/** Whether the font has all characters of a text. Others would be rendered in the machine's own fonts. */
export const hasBlocksOnly = (text: string): boolean =>
  /^[\t\u0020-\u00ff\u2000-\u206f]*$/.test(text);

/** Heavier text has larger blocks, code has smaller ones. */
export const blockFontCss = [
  fontFace("Blocks", "100 450", 100),
  fontFace("Blocks", "451 900", 115),
  fontFace("CodeBlocks", "100 900", 90),
  // Without hinting, which rounds the widths of letters on some machines.
  `* { font-family: Blocks !important; text-rendering: geometricPrecision !important; }`,
  `.font-mono, .font-mono * { font-family: CodeBlocks !important; }`,
].join("\n");
