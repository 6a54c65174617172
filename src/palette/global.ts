// Entries that are available everywhere: the dashboard's own pages, its theme, and forms for the current place.
import { sessions } from "../api/session.ts";
import { appearance, schemes } from "../app/shell/appearance.ts";
import { serverName, siteName } from "../app/inventory.ts";
import { helpIndex } from "../help/help-index.ts";
import { paths } from "../paths.ts";
import { type Entry, toAction, toPage } from "./entry.ts";

type Named = { id: number; name: string };
type Here = { kind: "site" | "server"; id: number } | null;

/** @param known servers and sites, for their names */
export function placeActions(
  here: Here,
  known: { servers: readonly Named[]; sites: readonly Named[] },
): Entry[] {
  if (here === null) return [];
  const { kind, id } = here;
  const place = known[`${kind}s`].find((one) => one.id === id);
  if (kind === "server")
    return [
      toPage(
        "plus",
        `New backup on ${serverName(id, place)}`,
        "",
        paths.newBackupConfiguration(id),
      ),
    ];
  const name = siteName(id, place);
  return [
    toPage("plus", `New worker on ${name}`, "", paths.newWorker(id)),
    toPage("plus", `New webhook on ${name}`, "", paths.newWebhook(id)),
  ];
}

const schemeNames = { system: "System", light: "Light", dark: "Dark" } as const;

/** There are many pages, so they are listed only for a text. */
const helpPages = (text: string): Entry[] =>
  text.trim() === ""
    ? []
    : helpIndex.flatMap(({ pages }) =>
        Object.entries(pages).map(([name, title]) =>
          toPage("info", `Help: ${title}`, "", paths.help(name)),
        ),
      );

/** Entries that need no data of the service. */
export const globalEntries = (text: string): Entry[] => [
  toPage("settings", "Settings", "Tokens, appearance, device", paths.settings()),
  toPage("info", "Help", "Documentation", paths.help()),
  ...helpPages(text),
  toPage("key", "Connect to another service", "", paths.connect()),
  ...schemes.map((scheme) => ({
    ...toAction("settings", `Theme: ${schemeNames[scheme]}`, () => appearance.choose(scheme)),
    detail: appearance.scheme.get() === scheme ? "Current" : "",
    group: "go" as const,
  })),
  { ...toAction("leave", "Disconnect", () => sessions.end()), group: "go" },
];
