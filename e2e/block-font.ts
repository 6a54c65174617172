// Fonts whose every letter is the same block, made here: photographs in them are alike on machines with different
// fonts, and still show where a text stands, how large, how heavy and in which colour.

const u16 = (...values: number[]) =>
  Buffer.from(values.flatMap((value) => [(value >> 8) & 0xff, value & 0xff]));
const u32 = (...values: number[]) => u16(...values.flatMap((value) => [value >>> 16, value]));

const em = 1000;
const ascent = 800;
const descent = 200;

/** @see https://learn.microsoft.com/en-us/typography/opentype/spec/otff */
function makeFont(advance: number, height: number): Buffer {
  // Reaches into its neighbour, so that a word is one bar without seams.
  const right = advance + 40;
  // Number 1 is the block; 0, which stands for what is missing, and 2, the space, are empty.
  const block = Buffer.concat([
    u16(1, 0, 0, right, height, 3, 0),
    Buffer.from([1, 1, 1, 1]),
    u16(0, right, 0, -right, 0, 0, height, 0),
    u16(0),
  ]);
  const ranges = [
    [0x20, 0x20, 2],
    [0x21, 0x9f, 1],
    [0xa0, 0xa0, 2],
    [0xa1, 0x10ffff, 1],
  ];
  const tables: Record<string, Buffer> = {
    "OS/2": Buffer.concat([
      u16(4, advance, 400, 5, 0, ...Array<number>(10).fill(0), 0),
      Buffer.alloc(10 + 16 + 4),
      u16(0xc0, 0x20, 0xffff, ascent, -descent, 0, ascent, descent),
      u32(1, 0),
      u16(height, height, 0, 0x20, 0),
    ]),
    cmap: Buffer.concat([
      u16(0, 1, 3, 10),
      u32(12),
      u16(13, 0),
      u32(16 + 12 * ranges.length, 0, ranges.length, ...ranges.flat()),
    ]),
    glyf: block,
    head: Buffer.concat([
      u32(0x10000, 0x10000, 0, 0x5f0f3cf5),
      u16(3, em),
      Buffer.alloc(16),
      u16(0, 0, right, height, 0, 8, 2, 0, 0),
    ]),
    hhea: Buffer.concat([
      u32(0x10000),
      u16(ascent, -descent, 0, advance, 0, 0, right, 1, 0, 0, 0, 0, 0, 0, 0, 1),
    ]),
    hmtx: u16(advance, 0, 0, 0),
    loca: u16(0, 0, block.length / 2, block.length / 2),
    maxp: Buffer.concat([u32(0x10000), u16(3, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)]),
    name: u16(0, 0, 6),
    post: Buffer.concat([u32(0x30000), Buffer.alloc(28)]),
  };
  const names = Object.keys(tables);
  let offset = 12 + 16 * names.length;
  const directory: Buffer[] = [];
  const bodies: Buffer[] = [];
  for (const [name, table] of Object.entries(tables)) {
    directory.push(Buffer.from(name), u32(0, offset, table.length));
    const padding = (4 - (table.length % 4)) % 4;
    bodies.push(table, Buffer.alloc(padding));
    offset += table.length + padding;
  }
  return Buffer.concat([u32(0x10000), u16(names.length, 128, 3, 32), ...directory, ...bodies]);
}

function fontFace(family: string, weights: string, advance: number, height: number): string {
  const url = `data:font/ttf;base64,${makeFont(advance, height).toString("base64")}`;
  return `@font-face { font-family: "${family}"; font-weight: ${weights}; src: url("${url}"); }`;
}

/** Sets all texts of a page in blocks; a heavier text has higher ones, code has lower and wider ones. */
export const blockFontCss = [
  fontFace("Blocks", "100 450", 500, 500),
  fontFace("Blocks", "451 900", 520, 700),
  fontFace("CodeBlocks", "100 900", 600, 350),
  // Without hinting, which rounds the widths of letters on some machines.
  `* { font-family: Blocks !important; text-rendering: geometricPrecision !important; }`,
  `.font-mono, .font-mono * { font-family: CodeBlocks !important; }`,
].join("\n");
