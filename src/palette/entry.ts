// What the palette offers, one entry a line.
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
  /** Two of the same key are one thing. */
  key: string;
  group: GroupName;
  icon: IconName;
  label: string;
  /** What tells it from others of the same label. */
  detail: string;
  /** Its state, where that is worth a word. */
  status?: string | undefined;
  /** Why it cannot be chosen now. */
  refusal?: string | undefined;
  /** It has the id that was asked for, so that it comes first although its name says nothing of that. */
  isExact?: boolean;
  act: Act;
  /** What else can be done with it; the first is what choosing it does. */
  actions?: () => readonly Entry[];
};

export type Asked = {
  text: string;
  /** Where the focus was when the palette was opened. */
  from: Element | null;
};

export type Found = {
  /** They answer the text already, by whatever means the source has; they come first, as they are. */
  answers?: readonly Entry[];
  /** To be searched for the text, and all listed while there is none. */
  offers?: readonly Entry[];
  /** How many there are of a group, where that is more than the answers. */
  totals?: Readonly<Partial<Record<string, number>>>;
  /** More is on its way. */
  isLoading?: boolean;
};

/** Where entries come from: a hook that is called whenever the open palette renders. */
export type Source = (asked: Asked) => Found;

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
  refusal: leadsToForm(to) ? changeRefusal.get() : undefined,
  act: { kind: "go", to, ...(opens && { opens }) },
});

/** An entry that does something. */
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
