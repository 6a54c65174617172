// What many tests begin with alike is made once in a run of the unit tests, and copied after that: to make the first files of a
// database takes ten times as long.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rename } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Where a run keeps them; `server/testing/global-setup.ts` makes it. */
export const modelsVariable = "QUARTERDECK_TEST_MODELS";

/**
 * @param into the folder to be; there is nothing yet
 * @param make makes such a folder; outside a run of the unit tests it makes this one
 */
export async function copyOfModel(
  name: string,
  into: string,
  make: (folder: string) => Promise<void>,
): Promise<void> {
  const models = process.env[modelsVariable];
  if (models === undefined) return make(into);
  const model = join(models, name);
  if (!existsSync(model)) {
    const around = await mkdtemp(`${model}-`);
    // Another account may make it.
    await chmod(around, 0o711);
    await make(join(around, name));
    // Where another file was faster, its model is as good.
    await rename(join(around, name), model).catch(() => undefined);
  }
  await run("cp", ["-a", model, into]);
}
