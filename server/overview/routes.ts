import { servedOperations } from "../../contract/served-operations.ts";
import { nothingToFind, reply, route, type Route } from "../http/route.ts";
import { sampleRoot } from "../inventory/sample.ts";
import type { Database } from "../store/database.ts";
import { createOverviewService, type OverviewServiceOptions } from "./service.ts";

type OverviewOptions = {
  db: Database;
  workers: Pick<OverviewServiceOptions, "crashLoops">;
  backups: Pick<OverviewServiceOptions, "protection">;
  selfBackup: OverviewServiceOptions["selfBackup"];
  dataFolder: string;
};

export function overviewRoutes({
  db,
  workers,
  backups,
  dataFolder,
  ...rest
}: OverviewOptions): Route[] {
  const overview = createOverviewService({
    db,
    crashLoops: workers.crashLoops,
    protection: backups.protection,
    selfBackup: rest.selfBackup,
    sampleRoot: sampleRoot(dataFolder),
  });
  return [
    route(servedOperations.showOverview, {
      find: nothingToFind,
      handle: async ({ caller }) => reply(200, await overview.show(caller.serverIds)),
    }),
  ];
}
