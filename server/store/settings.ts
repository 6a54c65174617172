// Settings that the installation stores about itself.
import { randomUUID } from "node:crypto";
import { eq } from "./drizzle.ts";
import type { Database } from "./database.ts";
import { settings } from "./tables/installation.ts";

/** Returns the id of this installation, which marks its workers' processes; created once. */
export async function installationId(db: Database): Promise<string> {
  const key = "installation";
  await db.insert(settings).values({ key, value: randomUUID() }).onConflictDoNothing();
  const [row] = await db.select().from(settings).where(eq(settings.key, key));
  if (row === undefined) throw new Error("The installation has no id.");
  return row.value;
}
