// Inlines `src/first-frame.ts` and the styles of all pages in index.html. The service sends a policy with their hashes, so
// nothing else may be inline there.
import { fileURLToPath } from "node:url";
import { build, type Plugin, type Rollup } from "vite";

const entry = fileURLToPath(new URL("../../../src/first-frame.ts", import.meta.url));

type Inlined = { script: string; styles: string };

/** Returns the compiled script. */
async function compile(): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    build: {
      write: false,
      lib: { entry, formats: ["iife"], name: "firstFrame", fileName: "first-frame" },
    },
  });
  const [output] = Array.isArray(result) ? result : [result];
  if (output === undefined || !("output" in output))
    throw new Error("The script of the first frame is gone.");
  return output.output[0].code.trim();
}

/** Tags that the build adds at the end of the head. */
const builtFiles =
  /^ *<(?:script type="module"|link rel="(?:modulepreload|stylesheet)")[^>]*>(?:<\/script>)?\n/gm;

/**
 * Moves the largest script first: it is requested on the connection that loaded the page, and everything waits for it. The styles
 * are inline, so that the page is painted at once, without a further request.
 */
export function orderHead(html: string, { script, styles }: Inlined): string {
  const first = html.match(builtFiles)?.filter((line) => !line.includes("stylesheet")) ?? [];
  const inlined = `    <script>${script}</script>\n    <style>${styles}</style>\n`;
  return html
    .replace(builtFiles, "")
    .replace(/ *<script src="\/scheme\.js"><\/script>\n/, "")
    .replace(/^ *<link rel="icon"/m, (icon) => `${first.join("")}${inlined}${icon}`);
}

/** The style sheet of all pages, which is then no file any more. */
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

export const inlineHead = (): Plugin => ({
  name: "inline-head",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler: async (html, { bundle = {} }) =>
      orderHead(html, { script: await compile(), styles: takeStyles(bundle) }),
  },
});
