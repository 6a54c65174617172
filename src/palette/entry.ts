// What the palette offers, one entry a line.
import type { IconName } from "../ui/Icon.tsx";

export const groupLabels = {
  recent: "Recent",
  id: "By id",
  page: "On this page",
  go: "Go to",
} as const;
export type GroupName = keyof typeof groupLabels;

export type Act =
  /** Presses the button of the page that has these words as its command. */
  | { kind: "press"; words: string }
  | { kind: "go"; to: string; opens?: { kind: "site" | "server"; id: number } }
  | { kind: "disconnect" };

export type Entry = {
  /** Two of the same key are one thing. */
  key: string;
  group: GroupName;
  icon: IconName;
  label: string;
  /** What tells it from others of the same label. */
  detail: string;
  /** Why it cannot be chosen now. */
  refusal?: string;
  act: Act;
};

/** An entry that leads to a page. */
export const toPage = (
  icon: IconName,
  label: string,
  detail: string,
  to: string,
  opens?: { kind: "site" | "server"; id: number },
): Entry => ({
  key: to,
  group: "go",
  icon,
  label,
  detail,
  act: { kind: "go", to, ...(opens && { opens }) },
});
