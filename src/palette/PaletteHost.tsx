// The palette's frame and field, which open at once; the rest of its code is loaded later.
import { createElement, type ReactNode, useEffect, useState } from "react";
import { useStore } from "../store.ts";
import { SearchDialog } from "../ui/dialog/SearchDialog.tsx";
import { SearchInput } from "../ui/form/SearchInput.tsx";
import { maxSearchText } from "../../contract/search.ts";
import { toast } from "../app/toasts.ts";
import { loadAgain } from "../app/routing/asked-part.ts";
import { closePalette, paletteState, type PaletteState } from "./palette-state.ts";
import type { PaletteProps } from "./Palette.tsx";

type Render = (props: PaletteProps) => ReactNode;

// Not `lazy`, which would cache a failed load.
const load = async (): Promise<Render> => {
  const { Palette } = await import("./Palette.tsx");
  return (props) => createElement(Palette, props);
};

let loaded: Render | null = null;

function PaletteDialog({ from, typed }: PaletteState) {
  const [text, setText] = useState(typed);
  const [render, setRender] = useState(() => loaded);
  /** The text at which Enter was pressed before there were results. */
  const [entered, setEntered] = useState<string | null>(null);
  useEffect(() => {
    const fill = async () => {
      try {
        loaded ??= await load();
        setRender(() => loaded);
      } catch {
        closePalette();
        toast.failure("Couldn't load the command palette.", loadAgain);
      }
    };
    void fill();
  }, []);
  const field: PaletteProps["field"] = {
    "aria-label": "Search names, actions and ids",
    placeholder: "Name, action or id",
    maxLength: maxSearchText,
    value: text,
    onChange: ({ target }) => setText(target.value),
  };
  return (
    <SearchDialog label="Command palette" onClose={closePalette}>
      {render === null ? (
        <SearchInput
          {...field}
          onKeyDown={({ key }) => {
            if (key === "Enter") setEntered(text);
          }}
        />
      ) : (
        render({ text, field, from, setText, entered })
      )}
    </SearchDialog>
  );
}

export function PaletteHost() {
  const state = useStore(paletteState);
  return state === null ? null : <PaletteDialog {...state} />;
}
