import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { SearchButton } from "../ui/SearchButton.tsx";
import { prefetchPalette } from "./load.ts";
import { openPalette, paletteKey } from "./opening.ts";

/** Opens the palette; whoever comes near it gets its code ahead. */
export function PaletteButton({ look }: { look: "field" | "icon" }) {
  const { hint, aria } = paletteKey();
  const facts = {
    "aria-haspopup": "dialog",
    "aria-keyshortcuts": aria,
    onPointerEnter: prefetchPalette,
    onFocus: prefetchPalette,
    onClick: openPalette,
  } as const;
  if (look === "field") return <SearchButton label="Search" hint={hint} {...facts} />;
  return (
    <Button variant="ghost" size="icon" aria-label="Search" {...facts}>
      <Icon name="search" />
    </Button>
  );
}
