// Light or dark, by the system's or the user's choice, for all tabs of this browser. `public/scheme.js` applies the
// stored choice before the first paint.
import { attempt } from "../../api/kept-session.ts";
import { createStore } from "../../store.ts";

export const schemes = ["system", "light", "dark"] as const;
export type Scheme = (typeof schemes)[number];

export const schemeKey = "quarterdeck.scheme";

/** The parts of the browser that the store uses. Where storage is forbidden, the choice lasts as long as the page. */
type SchemePorts = {
  read(): string | null;
  /** @param scheme null = removes the stored choice */
  write(scheme: string | null): void;
  /** @param scheme value of the page's `color-scheme`; empty = the page's default, which follows the system */
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
    /** Another tab may have changed it. */
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
    // The colors of the browser's own bars, as in `public/scheme.js`.
    for (const meta of document.querySelectorAll<HTMLMetaElement>("meta[data-scheme]")) {
      const own = meta.dataset["scheme"] ?? "";
      const chosen = own === scheme ? "all" : "not all";
      meta.media = scheme === "" ? `(prefers-color-scheme: ${own})` : chosen;
    }
  },
});

if ("document" in globalThis) addEventListener("storage", appearance.reread);
