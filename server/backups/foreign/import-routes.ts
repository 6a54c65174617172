import { servedOperations } from "../../../contract/served-operations.ts";
import { reply, route, type Caller, type Route } from "../../http/route.ts";
import { notFound } from "../../http/service-error.ts";
import { createDatabaseFinder, createSiteFinder } from "../../inventory/finders.ts";
import type { DatabaseRow, InventoryStore, SiteRow } from "../../inventory/store.ts";
import type { Serializer } from "../serializer.ts";
import type { ImportService } from "./import-service.ts";
import type { ReceiveUpload } from "./receive-upload.ts";

type ImportRoutesOptions = {
  imports: ImportService;
  receiveUpload: ReceiveUpload;
  serializer: Serializer;
  inventory: InventoryStore;
};

export function importRoutes(options: ImportRoutesOptions): Route[] {
  const { imports, receiveUpload, serializer, inventory } = options;
  // The key of a temporarily encrypted upload never leaves the memory of the instance that imports it.
  const runsOn = ({ serverId }: DatabaseRow | SiteRow) => serverId;
  type Asked = Parameters<typeof imports.pick>[1];
  type Sent = Parameters<typeof receiveUpload.receive>[1];
  const handle = async (
    target: DatabaseRow | SiteRow,
    {
      upload,
      body,
      caller,
      signal,
    }: { upload: Sent | null; body: Asked; caller: Caller; signal: AbortSignal },
  ) => {
    const row =
      upload === null
        ? await imports.pick(target, body, caller)
        : await receiveUpload.receive(target, upload, signal);
    return reply(202, await serializer.toBackup(row), `/api/backup/${row.id}`);
  };
  /** A token that is narrowed to servers is refused for any id, so that it cannot find out which exist. */
  const findProvider = async ({ id }: { id: number }, caller: Caller) => {
    const provider = await inventory.findStorageProvider(id);
    return provider === null && caller.serverIds === null ? null : { provider };
  };

  return [
    route(servedOperations.importDatabaseFile, {
      find: createDatabaseFinder(inventory),
      runsOn,
      check: ({ fields }) => imports.check(fields),
      handle: ({ found, ...asked }) => handle(found, asked),
    }),
    route(servedOperations.importSiteFile, {
      find: createSiteFinder(inventory),
      runsOn,
      check: ({ fields }) => imports.check(fields),
      handle: ({ found, ...asked }) => handle(found, asked),
    }),
    route(servedOperations.showImportableFiles, {
      find: findProvider,
      handle: async ({ found: { provider }, query, signal }) => {
        if (provider === null) throw notFound();
        return reply(200, await imports.list(provider.id, query.prefix ?? "", signal));
      },
    }),
  ];
}
