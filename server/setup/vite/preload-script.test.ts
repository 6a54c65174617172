import { expect, test } from "vitest";
import { filesOf, orderHead } from "./preload-script.ts";

const chunk = (fileName: string, imports: string[], more: object = {}) => ({
  fileName,
  imports,
  isEntry: false,
  moduleIds: [`/home/quarterdeck/node_modules/${fileName}`],
  ...more,
});

const chunks = [
  chunk("index.js", ["first.js"], { isEntry: true }),
  chunk("first.js", []),
  chunk("ListPage.js", ["first.js", "badge.js", "table.js"], {
    moduleIds: ["/home/quarterdeck/src/ui/Row.tsx", "/home/quarterdeck/src/backups/ListPage.tsx"],
  }),
  chunk("badge.js", ["index.js", "table.js"]),
  chunk("table.js", ["badge.js"]),
];

test("lists a page's files once each, without those that index.html loads", () =>
  expect(filesOf("backups/ListPage.tsx", chunks)).toEqual(["ListPage.js", "badge.js", "table.js"]));

test("an unknown page fails the build", () =>
  expect(() => filesOf("backups/Gone.tsx", chunks)).toThrow("No chunk is made of"));

test("requests the first file before all others, and none that the page contains", () => {
  const built = [
    "  <head>",
    '    <link rel="icon" href="/favicon.svg" />',
    '    <link rel="preload" href="/assets/font.woff2" as="font" />',
    '    <script src="/scheme.js"></script>',
    '    <script type="module" crossorigin src="/assets/index.js"></script>',
    '    <link rel="stylesheet" crossorigin href="/assets/index.css">',
    "  </head>",
    "",
  ];
  const [head, icon, font, , first, , end] = built;
  const inlined = ["    <script>start()</script>", "    <style>a{}</style>"];
  expect(orderHead(built.join("\n"), { script: "start()", styles: "a{}" })).toBe(
    [head, first, ...inlined, icon, font, end, ""].join("\n"),
  );
});
