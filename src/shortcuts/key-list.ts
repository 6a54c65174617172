// The list of keys, made from what is on the page when it is asked for.
import { paletteKey } from "../palette/opening.ts";
import { boxOf, currentRow, hasSelection, keyed, keyOf, rowsOf } from "./on-page.ts";

export type KeyEntry = { keys: readonly string[]; label: string };
export type KeyGroup = { title: string; entries: readonly KeyEntry[] };

/** The words of a button: its tip where it is an icon, or else what can be read on it. */
function labelOf(element: HTMLElement): string {
  const { tip } = element.dataset;
  if (tip !== undefined) return tip;
  return [...element.childNodes]
    .filter((node) => !(node instanceof HTMLElement && node.hidden))
    .map((node) => node.textContent)
    .join("")
    .trim();
}

/** Each key once, as the first of its buttons has it. */
const toEntries = (buttons: readonly HTMLElement[]): KeyEntry[] =>
  [...Map.groupBy(buttons, keyOf)].flatMap(([key, [first]]) =>
    first === undefined ? [] : [{ keys: [key === "Escape" ? "Esc" : key], label: labelOf(first) }],
  );

const inLists = (canSelect: boolean): KeyEntry[] => [
  { keys: ["j"], label: "Next row" },
  { keys: ["k"], label: "Previous row" },
  { keys: ["Enter"], label: "Open row" },
  ...(canSelect
    ? [
        { keys: ["x"], label: "Select row" },
        { keys: ["Shift", "x"], label: "Extend selection to row" },
      ]
    : []),
];

/** What has a key on the page right now. Where no row is the current one, the first stands for all. */
export function keyGroups(page: Document): KeyGroup[] {
  const rows = rowsOf(page);
  const row = currentRow(page) ?? rows[0] ?? null;
  const on = keyed(page, row);
  const groups: KeyGroup[] = [
    {
      title: "Lists",
      entries: rows.length === 0 ? [] : inLists(rows.some((one) => boxOf(one) !== null)),
    },
    { title: "Selected rows", entries: hasSelection(page) ? toEntries(on.selection) : [] },
    {
      title: "Current row",
      entries: toEntries(
        on.row.filter((element) => !on.selection.some((other) => keyOf(other) === keyOf(element))),
      ),
    },
    { title: "This page", entries: toEntries(on.page) },
    {
      title: "Global",
      entries: [
        { keys: paletteKey().hint.split(" "), label: "Command palette" },
        { keys: ["?"], label: "Keyboard shortcuts" },
        { keys: ["Esc"], label: "Close" },
      ],
    },
  ];
  return groups.filter(({ entries }) => entries.length > 0);
}
