// Lays brotli and gzip beside each built file; the service sends what the browser takes.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Plugin } from "vite";

const encodings = [
  {
    suffix: "br",
    /** Of what is smaller, gzip's is not worth a second file in the package. */
    minBytes: 16_384,
    compress: (content: Buffer) =>
      promisify(brotliCompress)(content, {
        params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
      }),
  },
  {
    suffix: "gz",
    /** Below this a header outweighs what is saved. */
    minBytes: 300,
    compress: (content: Buffer) => promisify(gzip)(content, { level: 9 }),
  },
];

export async function precompress(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile() || !/\.(?:js|css|html|svg|json|webmanifest)$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const content = await readFile(path);
    for (const { suffix, minBytes, compress } of encodings)
      if (content.length >= minBytes) await writeFile(`${path}.${suffix}`, await compress(content));
  }
}

export function precompressed(): Plugin {
  let folder = "";
  return {
    name: "precompressed",
    apply: "build",
    configResolved({ root, build }) {
      folder = join(root, build.outDir);
    },
    // The last thing of a build: only then everything lies in its folder.
    closeBundle: { order: "post", sequential: true, handler: () => precompress(folder) },
  };
}
