// The service's hits as entries.
import type { SearchHit } from "../../contract/search.ts";
import { isInTransit } from "../../contract/states.ts";
import { lookUp } from "../look-up.ts";
import { paths } from "../paths.ts";
import { actionsOf } from "./actions.ts";
import { type Entry, toPage } from "./entry.ts";

/** A hit's line; null for a kind that this dashboard has no page for. */
type ToEntry = (hit: SearchHit) => Entry | null;

const joined = (...parts: string[]) => parts.filter((part) => part !== "").join(" · ");

const toEntry: Record<string, ToEntry> = {
  server: ({ id, name }) => ({
    ...toPage("server", name, `Server ${id}`, paths.backups(id)),
    group: "server",
  }),
  site: ({ id, name, detail }) => ({
    ...toPage("site", name, joined(`Site ${id}`, detail), paths.workers(id)),
    group: "site",
  }),
  database: ({ id, name, detail, server_id: serverId }) =>
    serverId === null
      ? null
      : {
          ...toPage("backup", name, joined(`Database ${id}`, detail), paths.backups(serverId)),
          key: `database ${id}`,
          group: "database",
        },
  configuration: ({ id, name, detail }) => ({
    ...toPage("backup", name, detail, paths.backupConfiguration(id)),
    group: "configuration",
  }),
  worker: ({ id, name, detail }) => ({
    ...toPage("restart", name, joined(`Worker ${id}`, detail), paths.worker(id)),
    group: "worker",
  }),
  webhook: ({ id, name, detail }) => ({
    ...toPage("webhook", name, detail, paths.webhook(id)),
    group: "webhook",
  }),
  token: ({ id, name }) => ({
    ...toPage("key", name, `Token ${id}`, paths.settings()),
    key: `token ${id}`,
    group: "token",
  }),
};

/** As it should be is not worth a word. */
const isUsual = (status: string) => status === "installed" || status === "enabled";

/** @param id that was asked for, if one was */
export function hitEntries(hits: readonly SearchHit[], id: number | null): Entry[] {
  return hits.flatMap((hit) => {
    const entry = lookUp(toEntry, hit.kind)?.(hit);
    if (entry === undefined || entry === null) return [];
    const { status } = hit;
    return {
      ...entry,
      isExact: hit.id === id,
      ...(status !== null && !isUsual(status) && { status }),
      actions: () => actionsOf(hit),
    };
  });
}

export const statusTone = (status: string) =>
  ["failed", "failing", "disabled"].includes(status)
    ? "bad"
    : isInTransit(status)
      ? "busy"
      : "idle";
