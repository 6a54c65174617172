// Light or dark, as the system says or as chosen here, for all tabs of this browser. `public/scheme.js` puts what is
// stored on a page before it is painted.
import { attempt } from "../api/kept-session.ts";
import { createStore } from "../store.ts";

export const schemes = ["system", "light", "dark"] as const;
export type Scheme = (typeof schemes)[number];

export const schemeKey = "quarterdeck.scheme";

/** What the store needs of the browser; storage may be forbidden, and the choice then lasts as long as the page. */
type SchemePorts = {
  read(): string | null;
  /** @param scheme null = nothing is to be kept */
  write(scheme: string | null): void;
  /** @param scheme as `color-scheme` of the page; empty = the page's own, which follows the system */
  apply(scheme: string): void;
};

const readScheme = (text: string | null): Scheme =>
  schemes.find((scheme) => scheme === text) ?? "system";

export function createAppearance({ read, write, apply }: SchemePorts) {
  const scheme = createStore<Scheme>(readScheme(read()));
  return {
    scheme,
    choose(next: Scheme): void {
      scheme.set(next);
      write(next === "system" ? null : next);
      apply(next === "system" ? "" : next);
    },
    /** Another tab may have chosen. */
    reread: () => scheme.set(readScheme(read())),
  };
}

export const appearance = createAppearance({
  read: () => attempt(() => localStorage.getItem(schemeKey)),
  write: (scheme) =>
    void attempt(() =>
      scheme === null
        ? localStorage.removeItem(schemeKey)
        : localStorage.setItem(schemeKey, scheme),
    ),
  apply: (scheme) => {
    document.documentElement.style.colorScheme = scheme;
    // The browser's own bars, as `public/scheme.js` has them.
    for (const meta of document.querySelectorAll<HTMLMetaElement>("meta[data-scheme]")) {
      const own = meta.dataset["scheme"] ?? "";
      const chosen = own === scheme ? "all" : "not all";
      meta.media = scheme === "" ? `(prefers-color-scheme: ${own})` : chosen;
    }
  },
});

if ("document" in globalThis) addEventListener("storage", appearance.reread);
