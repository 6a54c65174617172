import { expect, test } from "vitest";
import { orderHead } from "./inline-head.ts";

test("asks for the first file before all others, and for none that the page holds", () => {
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
