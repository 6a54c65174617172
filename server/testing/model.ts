// Makes folders that many tests start from once in a run of the unit tests, and copies them after that: initializing a
// database takes ten times as long as a copy.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rename } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Environment variable with the folder of a run's models; `server/testing/global-setup.ts` makes it. */
export const modelsVariable = "QUARTERDECK_TEST_MODELS";

/**
 * @param into the folder to create; must not exist
 * @param make creates such a folder; outside of a run of the unit tests it is called with `into`
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
    // `make` may write as another account.
    await chmod(around, 0o711);
    await make(join(around, name));
    // Fails if another test file was faster, whose model is used then.
    await rename(join(around, name), model).catch(() => undefined);
  }
  await run("cp", ["-a", model, into]);
}
