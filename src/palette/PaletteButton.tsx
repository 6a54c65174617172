import { Button } from "../ui/button/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { SearchButton } from "../ui/button/SearchButton.tsx";
import { openPalette, paletteKey } from "./palette-state.ts";

/** Preloads the palette; errors are shown when it is opened. */
const prefetch = (): void => {
  import("./Palette.tsx").catch(() => {});
};

/** Opens the palette, and preloads its code when the pointer or focus approaches. */
export function PaletteButton({ look }: { look: "field" | "icon" }) {
  const { hint, aria } = paletteKey();
  const facts = {
    "aria-haspopup": "dialog",
    "aria-keyshortcuts": aria,
    onPointerEnter: prefetch,
    onFocus: prefetch,
    onClick: openPalette,
  } as const;
  if (look === "field") return <SearchButton label="Search" hint={hint} {...facts} />;
  return (
    <Button variant="ghost" size="icon" aria-label="Search" {...facts}>
      <Icon name="search" />
    </Button>
  );
}
