// Lets the dashboard import pages of the documentation as modules that export the parsed page.
import type { Plugin } from "vite";

/** @param parse throws for content that cannot be shown, which fails the build */
export const docs = (parse: (markdown: string) => object): Plugin => ({
  name: "docs",
  enforce: "pre",
  transform: {
    filter: { id: /\/docs\/.*\.md$/ },
    handler: (markdown) => ({
      // JSON that is parsed at run time starts faster than an object literal.
      code: `export const page = JSON.parse(${JSON.stringify(JSON.stringify(parse(markdown)))});`,
      moduleType: "js",
      map: null,
    }),
  },
});
