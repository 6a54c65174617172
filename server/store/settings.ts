// What the installation knows of itself.
import { randomUUID } from "node:crypto";
import { eq } from "./drizzle.ts";
import type { Database } from "./database.ts";
import { settings } from "./tables.ts";

/** The name that this installation's workers are marked with; made once. */
export async function installationId(db: Database): Promise<string> {
  const key = "installation";
  await db.insert(settings).values({ key, value: randomUUID() }).onConflictDoNothing();
  const [row] = await db.select().from(settings).where(eq(settings.key, key));
  if (row === undefined) throw new Error("The installation has no id.");
  return row.value;
}
