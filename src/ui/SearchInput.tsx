import type { ComponentProps, KeyboardEvent, ReactNode } from "react";
import { Icon } from "./Icon.tsx";

type SearchInputProps = Omit<ComponentProps<"input">, "className" | "ref" | "role"> & {
  /** What the search is within, before the text. */
  within?: ReactNode;
};

/** It may take the place of another one in which something was typed already. */
const focusAtEnd = (input: HTMLInputElement | null) => {
  input?.focus();
  input?.setSelectionRange(input.value.length, input.value.length);
};

/** The field of a `SearchDialog`, which always has the focus: the list is moved through from here. */
export function SearchInput({ within, onKeyDown, ...props }: SearchInputProps) {
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    // A key of an input method, such as the Enter that takes its suggestion. In Safari that one comes as the text is
    // there already, and only its code tells (UI Events, legacy key attributes).
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
