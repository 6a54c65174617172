// What only a restore elsewhere asks the service. All of it is beside the interface.
import { extraQuery } from "../../api/query.ts";

export const backupContentsQuery = (id: number) => extraQuery("showBackupContents", { id });

export type TargetType = "database" | "site";

export const currentContentsQuery = (type: TargetType, id: number) =>
  type === "site"
    ? extraQuery("showSiteContents", { id })
    : extraQuery("showDatabaseContents", { id });
