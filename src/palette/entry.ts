// The entries of the palette, one per line.
import { changeRefusal, leadsToForm } from "../commands/permission.ts";
import type { IconName } from "../ui/Icon.tsx";

export const groupLabels = {
  recent: "Recent",
  server: "Servers",
  site: "Sites",
  database: "Databases",
  configuration: "Backups",
  worker: "Workers",
  webhook: "Webhooks",
  token: "Tokens",
  id: "By id",
  page: "On this page",
  action: "Actions",
  go: "Go to",
} as const;
export type GroupName = keyof typeof groupLabels;

type Act =
  | { kind: "go"; to: string; opens?: { kind: "site" | "server"; id: number } }
  | { kind: "run"; run: () => void };

export type Entry = {
  /** Entries with the same key are duplicates. */
  key: string;
  group: GroupName;
  icon: IconName;
  label: string;
  /** Distinguishes entries with the same label. */
  detail: string;
  /** Its state, where that is worth showing. */
  status?: string | undefined;
  /** Why it cannot be chosen now. */
  refusal?: string | undefined;
  /** It has the id that was typed, so it comes first although its name does not match. */
  isExact?: boolean;
  act: Act;
  /** Further actions; the first is the same as choosing the entry. */
  actions?: () => readonly Entry[];
};

export type Asked = {
  text: string;
  /** The element that had the focus when the palette was opened. */
  from: Element | null;
};

export type Found = {
  /** Entries that match the text already, as judged by the source. They are listed first, in this order. */
  answers?: readonly Entry[];
  /** Entries to match with the text; all are listed while the text is empty. */
  offers?: readonly Entry[];
  /** Number of matches by group, where that is more than the answers. */
  totals?: Readonly<Partial<Record<string, number>>>;
  /** Whether more results are loading. */
  isLoading?: boolean;
};

/** A source of entries: a hook that is called whenever the open palette renders. */
export type Source = (asked: Asked) => Found;

/** Returns an entry that opens a page. */
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
  refusal: leadsToForm(to) ? changeRefusal.get() : undefined,
  act: { kind: "go", to, ...(opens && { opens }) },
});

/** Returns an entry that runs a function. */
export const toAction = (
  icon: IconName,
  label: string,
  run: () => void,
  refusal?: string,
): Entry => ({
  key: `run ${label}`,
  group: "action",
  icon,
  label,
  detail: "",
  refusal,
  act: { kind: "run", run },
});
