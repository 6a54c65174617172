// `npm start`: cleans the environment, builds the dashboard if its sources changed, then starts the service.
import { handOver, takeEnvironment } from "../environment/handover.ts";
import { closeInheritedFiles } from "../environment/inherited-files.ts";

closeInheritedFiles();
handOver(process);
// Taken at once, because the builder would inherit it.
const environment = takeEnvironment(process);

// Imported late, because everything up to here is loaded twice: the process replaces itself.
const { buildDashboard } = await import("./build.ts");
await buildDashboard();
const { startWithSeed } = await import("./seed/seed.ts");
await startWithSeed(process, environment, () => import("../main.ts"));
