import { expect, test } from "vitest";
import { filesOf } from "./preload-script.ts";

const chunk = (fileName: string, imports: string[], more: object = {}) => ({
  fileName,
  imports,
  isEntry: false,
  facadeModuleId: null,
  ...more,
});

const chunks = [
  chunk("index.js", ["first.js"], { isEntry: true }),
  chunk("first.js", []),
  chunk("ListPage.js", ["first.js", "badge.js", "table.js"], {
    facadeModuleId: "/home/quarterdeck/src/backups/ListPage.tsx",
  }),
  chunk("badge.js", ["index.js", "table.js"]),
  chunk("table.js", ["badge.js"]),
];

test("names a page's files once each, without those that index.html loads", () =>
  expect(filesOf("backups/ListPage.tsx", chunks)).toEqual(["ListPage.js", "badge.js", "table.js"]));

test("a page that is none stops the build", () =>
  expect(() => filesOf("backups/Gone.tsx", chunks)).toThrow("No chunk is made of"));
