import type { ComponentProps, KeyboardEvent, ReactNode } from "react";
import { Icon } from "../Icon.tsx";

type SearchInputProps = Omit<ComponentProps<"input">, "className" | "ref" | "role"> & {
  /** The scope of the search, before the text. */
  within?: ReactNode;
};

/** It may replace another field with text. */
const focusAtEnd = (input: HTMLInputElement | null) => {
  input?.focus();
  input?.setSelectionRange(input.value.length, input.value.length);
};

/** The field of a `SearchDialog`. It always has the focus, and its keys move through the list. */
export function SearchInput({ within, onKeyDown, ...props }: SearchInputProps) {
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    // Ignores keys of an input method, such as the Enter that accepts a suggestion. Safari sends that one after the
    // composition has ended, so only its key code shows it (UI Events, legacy key attributes).
    if (!event.nativeEvent.isComposing && event.keyCode !== 229) onKeyDown?.(event);
  };
  return (
    <div className="flex h-12 items-center gap-2.5 border-b border-line px-4 text-muted focus-within:border-accent">
      <Icon name="search" />
      {within}
      <input
        ref={focusAtEnd}
        role="combobox"
        aria-autocomplete="list"
        aria-controls={undefined}
        aria-expanded={false}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        enterKeyHint="go"
        {...props}
        onKeyDown={press}
        className="h-full min-w-0 flex-1 bg-transparent text-lg text-ink outline-none placeholder:text-muted"
      />
    </div>
  );
}
