// Loads Drizzle from its CommonJS build. Its ES modules re-export each other in cycles, and resolving those takes Node 0.8 s and
// some 150 MB at every start; with `require` it takes 0.1 s and 20 MB.
import { createRequire } from "node:module";
import type * as core from "drizzle-orm";
import type * as nodePostgres from "drizzle-orm/node-postgres";
import type * as migrator from "drizzle-orm/node-postgres/migrator";
import type * as pgCore from "drizzle-orm/pg-core";
import type * as migrationFiles from "drizzle-orm/migrator";

export type { SQL, SQLWrapper } from "drizzle-orm";
export type { PgColumn, PgTable } from "drizzle-orm/pg-core";

const require = createRequire(import.meta.url);

// `require` is untyped; each annotation names the types of the ES module.
export const {
  and,
  asc,
  desc,
  eq,
  getTableName,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  isTable,
  lt,
  lte,
  max,
  min,
  ne,
  notBetween,
  notExists,
  notInArray,
  or,
  sql,
}: typeof core = require("drizzle-orm");
export const {
  PgDialect,
  bigint,
  boolean,
  check,
  customType,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unionAll,
  uuid,
}: typeof pgCore = require("drizzle-orm/pg-core");
export const { drizzle }: typeof nodePostgres = require("drizzle-orm/node-postgres");
export const { migrate }: typeof migrator = require("drizzle-orm/node-postgres/migrator");
export const { readMigrationFiles }: typeof migrationFiles = require("drizzle-orm/migrator");
