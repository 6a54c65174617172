// The object that a page is about, for the message that it does not exist.
import type { Backup } from "../../../contract/backups/backup.ts";
import { cachedParentOf } from "../../api/parent-cache.ts";
import { query, queryClient } from "../../api/query.ts";
import { paths, readId } from "../../paths.ts";

type Back = { to: string; label: string };

const backTo = (parent: number | null | undefined, path: (id: number) => string, label: string) =>
  parent == null ? null : { to: path(parent), label };

/** The name of an object, and the link to what it belonged to as far as a cached response tells. */
const kinds: Record<string, { name: string; back: (id: number) => Back | null }> = {
  backups: {
    name: "Backup",
    back: (id) =>
      backTo(
        queryClient.getQueryData<Backup>(query("showBackup", { id }).queryKey)?.configuration_id,
        paths.backupConfiguration,
        "Backup configuration",
      ),
  },
  "backup-configurations": {
    name: "Backup configuration",
    back: (id) => backTo(cachedParentOf("listBackupConfigurations", id), paths.backups, "Backups"),
  },
  workers: {
    name: "Worker",
    back: (id) => backTo(cachedParentOf("listWorkers", id), paths.workers, "Workers"),
  },
  webhooks: {
    name: "Webhook",
    back: (id) => backTo(cachedParentOf("listWebhooks", id), paths.webhooks, "Webhooks"),
  },
  sites: { name: "Site", back: () => null },
  servers: { name: "Server", back: () => null },
};

/** @returns null where the path is not that of a page about one object */
export function missingAt(path: string): { name: string; back: Back | null } | null {
  const [, kind = "", text] = path.split("/");
  const id = readId(text);
  const known = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  return known === undefined || id === null
    ? null
    : { name: `${known.name} ${id}`, back: known.back(id) };
}
