// The possible targets of a restore: entries of a server's inventory with a matching kind.
import { useQuery } from "@tanstack/react-query";
import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import { engineInServer } from "../../../contract/backups/engines.ts";
import { everySiteQuery } from "../../app/inventory.ts";
import { everyDatabaseQuery } from "../queries.ts";
import type { TargetType } from "./queries.ts";

type Target = {
  type: TargetType;
  id: number;
  name: string;
  /** Whether it is all databases of a server together. */
  isServer: boolean;
};

type Words = { label: string; prompt: string; help: string; none: string };

const siteWords: Words = {
  label: "Site",
  prompt: "Choose a site",
  help: "The files of this site's folder are replaced.",
  none: "This server has no other site. Add one to the inventory to restore into it.",
};
const databaseWords: Words = {
  label: "Database",
  prompt: "Choose a database",
  help: "Databases of the same kind in the inventory. The content of this one is replaced.",
  none: "This server has no other database of the same kind. Add one to the inventory to restore into it.",
};

export const kindWords = (engine: string | null): Words =>
  engine === "folder" ? siteWords : databaseWords;

type Asked = {
  left: BackupConfiguration | null;
  /** Whether one database is restored, so that all databases of a server are a possible target, too. */
  isOne: boolean;
};

/** @param left the configuration whose source is excluded; null = none is */
export function useTargets(
  serverId: number,
  engine: string | null,
  { left, isOne }: Asked,
): Target[] {
  const isFolder = engine === "folder";
  const one = engineInServer(engine);
  const { data: sites } = useQuery({ ...everySiteQuery(serverId), enabled: isFolder });
  const { data: databases } = useQuery({ ...everyDatabaseQuery(serverId), enabled: !isFolder });
  const all: Target[] = isFolder
    ? (sites?.data ?? []).map(({ id, name }) => ({ type: "site", id, name, isServer: false }))
    : (databases?.data ?? [])
        .map(({ id, name, engine: its, scope }) => ({
          type: "database" as const,
          id,
          name,
          engine: its,
          isServer: scope === "server",
        }))
        .filter(
          ({ engine: its, isServer }) =>
            its === (one ?? engine) && (isOne || isServer === (one !== null)),
        );
  return all.filter(({ type, id }) => left?.type !== type || left.backupable.id !== id);
}
