// Drizzle, by its CommonJS build. Its ES modules re-export each other in circles, and resolving those
// takes Node 0.8 s and some 150 MB at every start; the same code by `require` takes 0.1 s and 20 MB.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

// `require` knows no types; each cast names the module that stands beside it.
export const { desc, asc, eq, and, ne, notInArray, sql } =
  require("drizzle-orm") as typeof import("drizzle-orm");

export const { boolean, check, index, integer, jsonb, pgTable, text, timestamp } =
  require("drizzle-orm/pg-core") as typeof import("drizzle-orm/pg-core");

export const { drizzle } =
  require("drizzle-orm/node-postgres") as typeof import("drizzle-orm/node-postgres");

export const { migrate } =
  require("drizzle-orm/node-postgres/migrator") as typeof import("drizzle-orm/node-postgres/migrator");
