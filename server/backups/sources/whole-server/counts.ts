// Merges the counts and checksums of a server's databases into one manifest.
import type { Checksums, Manifest } from "../source.ts";
import { withPrefix } from "./names.ts";

export function createCounts() {
  const databases: string[] = [];
  const tables: Record<string, number> = {};
  let checksums: Checksums | undefined;
  return {
    add(database: string, counted: DatabaseCounts): void {
      databases.push(database);
      Object.assign(tables, withPrefix(database, counted.tables));
      if (counted.checksums === undefined) return;
      const { by } = counted.checksums;
      checksums ??= { by, tables: {} };
      Object.assign(checksums.tables, withPrefix(database, counted.checksums.tables));
      if (by !== checksums.by) checksums.others = { ...checksums.others, [database]: by };
    },
    manifest: (): Manifest => ({
      kind: "database",
      tables,
      databases,
      ...(checksums !== undefined && { checksums }),
    }),
  };
}

type DatabaseCounts = Pick<Extract<Manifest, { kind: "database" }>, "tables" | "checksums">;
