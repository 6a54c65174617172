// Converts the service's search results to entries.
import type { SearchHit } from "../../contract/search.ts";
import { isInTransit } from "../../contract/states.ts";
import { lookUp } from "../look-up.ts";
import { paths } from "../paths.ts";
import { actionsOf } from "./actions.ts";
import { type Entry, toPage } from "./entry.ts";

/** Returns the entry of a result; null for a kind without a page in this dashboard. */
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

/** Whether a status is the normal one, which is not shown. */
const isUsual = (status: string) => status === "installed" || status === "enabled";

/** @param id the id that was typed; null = none */
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
