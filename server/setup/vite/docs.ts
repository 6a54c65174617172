// The documentation beside the dashboard, as text that every browser shows: the dashboard's notes link to it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const folder = fileURLToPath(new URL("../../../docs", import.meta.url));

export const docs: Plugin = {
  name: "docs",
  apply: "build",
  generateBundle() {
    for (const name of readdirSync(folder))
      if (name.endsWith(".md"))
        this.emitFile({
          type: "asset",
          fileName: `docs/${name.replace(/md$/, "txt")}`,
          source: readFileSync(join(folder, name)),
        });
  },
};
