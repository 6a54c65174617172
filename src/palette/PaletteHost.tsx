// The palette's frame and field, which open at once; what they find comes with the rest of its code.
import { createElement, type ReactNode, useEffect, useState } from "react";
import { useStore } from "../store.ts";
import { SearchDialog } from "../ui/SearchDialog.tsx";
import { SearchInput } from "../ui/SearchInput.tsx";
import { toast } from "../app/toasts.ts";
import { type PaletteProps, searchWords } from "./field.ts";
import { loadPalette } from "./load.ts";
import { closePalette, opened, type Opening } from "./opening.ts";

type Render = (props: PaletteProps) => ReactNode;

const load = async (): Promise<Render> => {
  const Palette = await loadPalette();
  return (props) => createElement(Palette, props);
};

let loaded: Render | null = null;

function PaletteDialog({ from }: Opening) {
  const [text, setText] = useState("");
  const [render, setRender] = useState(() => loaded);
  useEffect(() => {
    const fill = async () => {
      try {
        loaded ??= await load();
        setRender(() => loaded);
      } catch {
        closePalette();
        toast.failure("Couldn't load the command palette.", "Reload the page to try again.");
      }
    };
    void fill();
  }, []);
  return (
    <SearchDialog label="Command palette" onClose={closePalette}>
      {render === null ? (
        <SearchInput
          {...searchWords}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      ) : (
        render({ text, onText: setText, from })
      )}
    </SearchDialog>
  );
}

export function PaletteHost() {
  const opening = useStore(opened);
  return opening === null ? null : <PaletteDialog from={opening.from} />;
}
