// The actions that the page itself offers, read from its buttons: what a person could press, and nothing else.
import type { Entry } from "./entry.ts";

/** Of an `HTMLElement`, what tells its command. */
export type Marked = Pick<HTMLElement, "getAttribute" | "checkVisibility" | "closest"> & {
  dataset: DOMStringMap;
};

const isDisabled = (button: Marked) => button.getAttribute("aria-disabled") === "true";

function toEntry(button: Marked, words: string): Entry {
  const isBusy = button.getAttribute("aria-busy") === "true";
  return {
    key: `press ${words}`,
    group: "page",
    icon: "act",
    label: words,
    detail: "",
    ...(isDisabled(button) && {
      refusal: isBusy
        ? "The action is in progress."
        : (button.dataset["reason"] ?? "The action isn't available now."),
    }),
    act: { kind: "press", words },
  };
}

/**
 * What can be pressed comes first, and of that the row that the focus was in.
 * @param buttons in the order of the page
 */
export function toCommands(buttons: readonly Marked[], from: Element | null): Entry[] {
  const row = from?.closest("tr, li") ?? null;
  const found = new Map<string, { entry: Entry; rank: number }>();
  for (const button of buttons) {
    const words = button.dataset["command"];
    if (words === undefined || !button.checkVisibility()) continue;
    const isNear = row !== null && button.closest("tr, li") === row;
    const rank = isDisabled(button) ? 2 : isNear ? 0 : 1;
    // An empty list has its way to a new one twice.
    if (rank < (found.get(words)?.rank ?? Infinity))
      found.set(words, { entry: toEntry(button, words), rank });
  }
  return [...found.values()].sort((a, b) => a.rank - b.rank).map(({ entry }) => entry);
}

const markedButtons = () => [...document.querySelectorAll<HTMLElement>("main [data-command]")];

export const pageCommands = (from: Element | null): Entry[] => toCommands(markedButtons(), from);

/**
 * Presses the button, as it is by now: a poll may have changed the page since it was read.
 * @returns why it was not pressed, null = it was
 */
export function press(words: string): string | null {
  const button = markedButtons().find(
    (one) => one.dataset["command"] === words && one.checkVisibility(),
  );
  if (button === undefined) return "The action is no longer on the page.";
  const { refusal } = toEntry(button, words);
  if (refusal !== undefined) return refusal;
  button.click();
  return null;
}
