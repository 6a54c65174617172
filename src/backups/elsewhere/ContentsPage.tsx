// The contents of a backup: tables of a database with row counts, or files of a folder.
import { useQuery } from "@tanstack/react-query";
import { useLoaderData, useNavigate } from "react-router";
import type { BackupContents } from "../../../contract/backups/contents.ts";
import { tablePrefixOf } from "../../../contract/backups/server-tables.ts";
import { useLoaded } from "../../api/query.ts";
import { useChangeRefusal } from "../../commands/permission.ts";
import { paths } from "../../paths.ts";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { refusal } from "../backup/backup-actions.ts";
import { backupQuery, configurationQuery } from "../queries.ts";
import { BackupCrumbs } from "../backup/BackupCrumbs.tsx";
import { DatabasesPanel } from "./DatabasesPanel.tsx";
import { FilesPanel } from "./FilesPanel.tsx";
import type { contentsLoader } from "./loader.ts";
import { ObjectsPanel } from "./ObjectsPanel.tsx";
import { backupContentsQuery } from "./queries.ts";
import { askRestoreInto, ownTarget, type RestoreInto } from "./restore-into-question.tsx";
import { TablesPanel } from "./TablesPanel.tsx";

/** @param table as in the contents: for a whole server, prefixed by the name of its database */
function partOf({ databases }: BackupContents, table: string): NonNullable<RestoreInto["part"]> {
  const database = databases?.find(({ name }) => table.startsWith(tablePrefixOf(name)));
  return database === undefined
    ? { tables: [table] }
    : {
        from_database: database.name,
        tables: [table.slice(tablePrefixOf(database.name).length)],
      };
}

const Unlisted = ({ what, reason }: { what: string; reason: string }) => (
  <Notice tone="warn">
    <p>
      {reason} To list the {what} of a backup, connect with one that has all permissions.
    </p>
  </Notice>
);

export function ContentsPage() {
  const { id, configurationId, serverId, view } = useLoaderData<typeof contentsLoader>();
  const backup = useLoaded(backupQuery(id));
  const contents = useLoaded(backupContentsQuery(id));
  const { data: configuration } = useQuery({
    ...configurationQuery(configurationId ?? 0),
    enabled: configurationId !== null,
  });
  const navigate = useNavigate();
  const refused = refusal("download", backup);
  // The request may include an identity, so it is a POST, which a read-only token may not send.
  const unlisted = useChangeRefusal(true);
  const target = ownTarget(configuration);
  const restore =
    target === null
      ? null
      : (part: NonNullable<RestoreInto["part"]>) =>
          askRestoreInto(
            backup,
            {
              ...target,
              part,
              database: null,
              keepsOwners: null,
              isServer: "from_database" in part,
            },
            () => void navigate(paths.backup(id)),
          );
  const restoreRefusal = refusal("restore", backup);
  return (
    <>
      <PageHeader
        title={`Contents of backup ${id}`}
        context={configuration ? [configuration.name] : []}
        crumbs={
          <BackupCrumbs
            id={id}
            configurationId={configurationId}
            configuration={configuration}
            serverId={serverId}
          />
        }
      />
      {refused !== undefined && (
        <Notice tone="warn">
          <p>{refused}</p>
        </Notice>
      )}
      {contents?.databases != null && (
        <DatabasesPanel
          databases={contents.databases}
          restore={restore && ((name) => restore({ from_database: name }))}
          refusal={restoreRefusal}
        />
      )}
      {contents !== null &&
        (contents.engine === "folder" && unlisted !== undefined ? (
          <Unlisted what="files" reason={unlisted} />
        ) : contents.engine === "folder" ? (
          <FilesPanel
            backup={backup}
            view={view}
            restore={restore && ((path) => restore({ path }))}
            refusal={restoreRefusal}
          />
        ) : (
          <div className="grid gap-6">
            <TablesPanel
              contents={contents}
              restore={restore && ((name) => restore(partOf(contents, name)))}
              refusal={restoreRefusal}
            />
            {contents.engine === "postgres" &&
              refused === undefined &&
              (unlisted === undefined ? (
                <ObjectsPanel backup={backup} />
              ) : (
                <Unlisted what="other objects" reason={unlisted} />
              ))}
          </div>
        ))}
    </>
  );
}
