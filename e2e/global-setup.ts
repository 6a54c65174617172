// The dashboard is built once; the services of all workers then serve the same files.
import { buildDashboard } from "../server/setup/build.ts";
import { keepTemporaryInMemory, removeDeadFolders } from "../server/testing/memory-folder.ts";

export default async function setup() {
  await removeDeadFolders();
  await buildDashboard();
  return keepTemporaryInMemory();
}
