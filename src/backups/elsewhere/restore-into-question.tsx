// Restores a backup into another target, after a confirmation that says what is replaced.
import type { Backup, BackupConfiguration } from "../../../contract/backups/backup.ts";
import { tablePrefixOf } from "../../../contract/backups/server-tables.ts";
import { call } from "../../api/client.ts";
import { mutate } from "../../api/mutate.ts";
import { confirm } from "../../app/confirm.ts";
import { refreshBackups } from "../backup/backup-actions.ts";
import { followRestore } from "../backup/follow-restore.ts";
import {
  createIdentity,
  IdentityFields,
  identityBody,
  isAtIdentity,
  noteRefusal,
} from "../IdentityFields.tsx";
import { discardWord, isDiscarding, safetyChoices } from "../backup/restore-question.tsx";
import type { TargetType } from "./queries.ts";

export type RestoreInto = {
  type: TargetType;
  id: number;
  name: string;
  /** Name of a database to create; null = the target itself is replaced. */
  database: string | null;
  /** For PostgreSQL and MySQL only. */
  keepsOwners: boolean | null;
  /** The part to restore; null = everything. */
  part:
    | { tables: string[] }
    | { path: string }
    | { from_database: string; tables?: string[] }
    | null;
  /** Whether the target is all databases of a server, of which a part is one. */
  isServer?: boolean;
};

type Body = {
  backup_id: number;
  skip_safety_backup?: true;
  identity?: string;
  passphrase?: string;
};

const intoMutation = {
  mutationFn: ({ into, body }: { into: RestoreInto; body: Body }): Promise<unknown> =>
    into.type === "site"
      ? call("restoreIntoSite", { id: into.id }, { body: { ...body, ...into.part } })
      : call(
          "restoreIntoDatabase",
          { id: into.id },
          {
            body: {
              ...body,
              ...into.part,
              ...(into.database !== null && { database: into.database }),
              ...(into.keepsOwners !== null && { keep_owners: into.keepsOwners }),
            },
          },
        ),
  onSettled: refreshBackups,
};

function partNameOf({ part, isServer }: RestoreInto): string | null {
  if (part === null) return null;
  if ("path" in part) return part.path;
  if (!("from_database" in part)) return part.tables.join(", ");
  const { from_database: database, tables } = part;
  if (tables !== undefined)
    return tables.map((table) => tablePrefixOf(database) + table).join(", ");
  // An entry of a single database is restored as a whole.
  return isServer === true ? database : null;
}

export function askRestoreInto(backup: Backup, into: RestoreInto, onStarted: () => void): void {
  const { name, database } = into;
  const partName = partNameOf(into);
  const identity = backup.encrypted === true ? createIdentity() : null;
  const isNew = database !== null;
  confirm({
    title: isNew
      ? `Restore backup ${backup.id} into a new database?`
      : `Restore ${partName ?? `backup ${backup.id}`} into ${name}?`,
    body: (
      <>
        {isNew ? (
          <p>
            Creates the database <strong className="text-ink">{database}</strong> on the server of{" "}
            {name} and fills it. Nothing is replaced.
          </p>
        ) : partName !== null ? (
          <p>
            Replaces <strong className="text-ink wrap-anywhere">{partName}</strong> in {name} with
            what backup {backup.id} holds. Everything else stays as it is.
          </p>
        ) : (
          <p>
            Replaces everything in <strong className="text-ink">{name}</strong>. The backup's own
            source stays as it is.
          </p>
        )}
        {identity !== null && <IdentityFields given={identity} />}
      </>
    ),
    ...(!isNew && {
      choices: safetyChoices,
      typed: (choice: string) => (isDiscarding(choice) ? discardWord : name),
    }),
    action: "Restore",
    isAtField: isAtIdentity,
    run: async (choice) => {
      try {
        await mutate(intoMutation, {
          into,
          body: {
            backup_id: backup.id,
            ...(!isNew && isDiscarding(choice) && { skip_safety_backup: true }),
            ...(identity !== null && identityBody(identity.get())),
          },
        });
      } catch (error) {
        if (identity !== null) noteRefusal(identity, error);
        throw error;
      }
      // Undone by the safety backup of the target, which the backup's page links to.
      followRestore(backup.id, () => undefined);
      onStarted();
    },
  });
}

/** Returns the target of a restored part: the backup's own source. Null = unknown. */
export const ownTarget = (
  configuration: BackupConfiguration | undefined,
): Pick<RestoreInto, "type" | "id" | "name"> | null =>
  configuration === undefined
    ? null
    : {
        type: configuration.type,
        id: configuration.backupable.id,
        name: configuration.backupable.name,
      };
