// Routes of restores, and of the checks and listings before a restore.
import { servedOperations } from "../../../contract/served-operations.ts";
import { reply, route, type Caller, type Route } from "../../http/route.ts";
import { createDatabaseFinder, createSiteFinder } from "../../inventory/finders.ts";
import type { DatabaseRow, InventoryStore, SiteRow } from "../../inventory/store.ts";
import type { BackupRow } from "../backup-store.ts";
import type { Browse } from "./browse.ts";
import { contentsOfBackup, type createCurrentContents } from "./contents.ts";
import type { RestoreService } from "./restore-service.ts";
import type { Serializer } from "../serializer.ts";

type RestoreRoutesOptions = {
  restores: RestoreService;
  browse: Browse;
  currentContents: ReturnType<typeof createCurrentContents>;
  serializer: Serializer;
  inventory: InventoryStore;
  /** Looks up a backup, and the server of its source. */
  ofBackup: {
    find(params: { id: number }, caller: Caller): Promise<BackupRow | null>;
    runsOn(row: BackupRow): Promise<number>;
  };
};

export function restoreRoutes(options: RestoreRoutesOptions): Route[] {
  const { restores, browse, currentContents, serializer, inventory, ofBackup } = options;
  /** The instance of the target's server runs the restore, and keeps the key of an encrypted backup in memory. */
  const runsOn = ({ serverId }: DatabaseRow | SiteRow) => serverId;
  const ofDatabase = { find: createDatabaseFinder(inventory), runsOn };
  const ofSite = { find: createSiteFinder(inventory), runsOn };

  return [
    route(servedOperations.restoreBackup, {
      // The key of an encrypted backup never leaves the memory of the instance that restores it.
      ...ofBackup,
      isKnownWithout: true,
      check: async ({ found, fields }) => restores.check(found, fields),
      handle: async ({ found, body }) => {
        const { skip_safety_backup: skips, ...given } = body;
        const restored = await restores.restore(found, skips === true, given);
        return reply(202, await serializer.toBackup(restored));
      },
    }),
    route(servedOperations.showBackupContents, {
      find: ofBackup.find,
      handle: async ({ found }) => reply(200, contentsOfBackup(found)),
    }),
    route(servedOperations.browseArchive, {
      // A listing is cached in the memory of the instance that read the archive.
      ...ofBackup,
      isKnownWithout: true,
      handle: async ({ found, body }) => reply(200, await browse.files(found, body)),
    }),
    route(servedOperations.browseObjects, {
      ...ofBackup,
      isKnownWithout: true,
      handle: async ({ found, body }) => reply(200, await browse.objects(found, body)),
    }),
    route(servedOperations.showDatabaseContents, {
      ...ofDatabase,
      handle: async ({ found, signal }) => reply(200, await currentContents(found, signal)),
    }),
    route(servedOperations.showSiteContents, {
      ...ofSite,
      handle: async ({ found, signal }) => reply(200, await currentContents(found, signal)),
    }),
    route(servedOperations.restoreIntoDatabase, {
      ...ofDatabase,
      check: ({ found, fields, caller }) => restores.checkInto(found, fields, caller.reaches),
      handle: async ({ found, body }) =>
        reply(202, await serializer.toBackup(await restores.restoreInto(found, body))),
    }),
    route(servedOperations.restoreIntoSite, {
      ...ofSite,
      check: ({ found, fields, caller }) => restores.checkInto(found, fields, caller.reaches),
      handle: async ({ found, body }) =>
        reply(202, await serializer.toBackup(await restores.restoreInto(found, body))),
    }),
  ];
}
