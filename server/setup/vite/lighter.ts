// Takes out of the build what a browser never needs. Each rule only marks or drops what has no effect when it runs; one
// that no longer matches makes the dashboard larger and breaks nothing.
import type { Plugin } from "vite";

type Rule = { name: string; files: RegExp; lighten: (code: string) => string };

const rules: Rule[] = [
  {
    // What the contract says for the interface description alone, and the bodies that only a service checks this way.
    name: "contract",
    files: /\/contract\/.*\.ts$/,
    lighten: (code) =>
      code
        .replace(/^\s*summary:\s*".*",$/gm, "")
        .replace(/\.register\(z\.globalRegistry, \{[^}]*\}\)/g, ""),
  },
  {
    name: "operations",
    files: /\/contract\/operations\.ts$/,
    lighten: (code) => code.replace(/^\s*(?:tag|body|query|ability): .*,$/gm, ""),
  },
  {
    // A component that nothing imports stays because it is given a name for the developer tools, and because no
    // bundler knows that `forwardRef` and `createContext` only make a value.
    name: "router",
    files: /\/node_modules\/react-router\/.*\.js$/,
    lighten: (code) =>
      code
        .replace(/^\s*\w+\.displayName = "[^"]*";$/gm, "")
        .replace(/= (React\$?\d*\.(?:forwardRef|createContext)\()/g, "= /* @__PURE__ */ $1"),
  },
  {
    // What React throws to itself is compared and never read. While an inspector is attached, e.g. Lighthouse's, the
    // first real error makes the browser go through all of the code again for the places in its stack: 40 ms.
    name: "react",
    files: /\/node_modules\/react-dom\/cjs\/react-dom-client\.production\.js$/,
    lighten: (code) =>
      code.replace(
        /(\w+Exception = )Error\(formatProdErrorMessage\(\d+\)\)/g,
        "$1Object.create(Error.prototype)",
      ),
  },
  {
    // The keys of an icon's lines; React counts them by itself, and they never change places.
    name: "icons",
    files: /\/node_modules\/lucide-react\/.*\/icons\/.*\.m?js$/,
    lighten: (code) => code.replace(/,?\s*key: "[^"]*"/g, ""),
  },
];

export const lighten = (path: string, code: string): string =>
  rules.reduce((text, { files, lighten }) => (files.test(path) ? lighten(text) : text), code);

export const lighter: Plugin[] = rules.map(({ name, files, lighten }) => ({
  name: `lighter-${name}`,
  apply: "build",
  transform: { filter: { id: files }, handler: (code) => lighten(code) },
}));
