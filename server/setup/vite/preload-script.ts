// Puts `src/preload/start.ts` with the file names of each page's code, and the styles of all pages, into index.html. The service
// allows both by their hashes in its Content-Security-Policy, and no other inline code.
import { fileURLToPath } from "node:url";
import { build, type Plugin, type Rollup } from "vite";

const entry = fileURLToPath(new URL("../../../src/preload/start.ts", import.meta.url));

type Inlined = { script: string; styles: string };

type Chunk = Pick<Rollup.OutputChunk, "fileName" | "imports" | "isEntry" | "moduleIds">;

/** @returns the files that a page's module needs, without those that index.html loads anyway */
export function filesOf(module: string, chunks: readonly Chunk[]): string[] {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const collect = (name: string, into: Set<string>) => {
    if (into.has(name)) return into;
    into.add(name);
    for (const imported of byName.get(name)?.imports ?? []) collect(imported, into);
    return into;
  };
  const known = new Set<string>();
  for (const { fileName, isEntry } of chunks) if (isEntry) collect(fileName, known);
  const page = chunks.find(({ moduleIds }) =>
    moduleIds.some((id) => id.endsWith(`/src/${module}`)),
  );
  if (page === undefined) throw new Error(`No chunk is made of src/${module}.`);
  return [...collect(page.fileName, new Set())].filter((name) => !known.has(name));
}

/** Compiles the script for browsers. */
async function compile(files: Record<string, string[]>): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: "warn",
    define: { PRELOAD_FILES: JSON.stringify(files) },
    publicDir: false,
    build: {
      write: false,
      lib: { entry, formats: ["iife"], name: "preload", fileName: "preload" },
    },
  });
  const [output] = Array.isArray(result) ? result : [result];
  if (output === undefined || !("output" in output)) throw new Error("The preload script is gone.");
  return output.output[0].code.trim();
}

/** Elements that the build adds at the end of the head. */
const builtFiles =
  /^ *<(?:script type="module"|link rel="(?:modulepreload|stylesheet)")[^>]*>(?:<\/script>)?\n/gm;

/**
 * Puts the main script first, because the first request reuses the connection of the page, and everything waits for that file.
 * The styles are inline, so that the page is painted without another request.
 */
export function orderHead(html: string, { script, styles }: Inlined): string {
  const first = html.match(builtFiles)?.filter((line) => !line.includes("stylesheet")) ?? [];
  const inlined = `    <script>${script}</script>\n    <style>${styles}</style>\n`;
  return html
    .replace(builtFiles, "")
    .replace(/ *<script src="\/scheme\.js"><\/script>\n/, "")
    .replace(/^ *<link rel="icon"/m, (icon) => `${first.join("")}${inlined}${icon}`);
}

/** Removes the style sheet from the bundle. @returns its content */
function takeStyles(bundle: Rollup.OutputBundle): string {
  const sheets = Object.values(bundle).filter(
    (file) => file.type === "asset" && file.fileName.endsWith(".css"),
  );
  const [sheet] = sheets;
  if (sheet?.type !== "asset" || sheets.length > 1)
    throw new Error(`index.html holds one style sheet, and ${sheets.length} were made.`);
  delete bundle[sheet.fileName];
  return Buffer.from(sheet.source).toString().trim();
}

/** @param modules of the pages, relative to `src` */
export const preloadScript = (modules: readonly string[]): Plugin => ({
  name: "preload-script",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    async handler(html, { bundle = {} }) {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const files = Object.fromEntries(
        modules.map((module) => [module, filesOf(module, chunks).map((name) => `/${name}`)]),
      );
      return orderHead(html, { script: await compile(files), styles: takeStyles(bundle) });
    },
  },
});
