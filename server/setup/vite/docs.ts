// Lets the dashboard import the documentation: a page of it is a module whose value is what the page shows.
import type { Plugin } from "vite";

/** @param parse throws for what it cannot show, which fails the build */
export const docs = (parse: (markdown: string) => object): Plugin => ({
  name: "docs",
  enforce: "pre",
  transform: {
    filter: { id: /\/docs\/.*\.md$/ },
    handler: (markdown) => ({
      // A text that is parsed as JSON starts faster than an object that is written as code.
      code: `export const page = JSON.parse(${JSON.stringify(JSON.stringify(parse(markdown)))});`,
      moduleType: "js",
      map: null,
    }),
  },
});
