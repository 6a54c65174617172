// Puts `src/first-frame.ts` into index.html as an inline script, and the styles of all pages. The service names their
// hashes in the policy that it sends, so nothing else may stand there.
import { fileURLToPath } from "node:url";
import { build, type Plugin, type Rollup } from "vite";

const entry = fileURLToPath(new URL("../../../src/first-frame.ts", import.meta.url));

type Inlined = { script: string; styles: string };

/** The script as a browser runs it. */
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

/** What the build adds at the end of the head. */
const builtFiles =
  /^ *<(?:script type="module"|link rel="(?:modulepreload|stylesheet)")[^>]*>(?:<\/script>)?\n/gm;

/**
 * The first file to be asked for gets the connection that brought the page, so that is the largest one, which everything
 * waits for. The styles stand in the page: it is painted as soon as it is there, and takes no connection for them.
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
