// What `npm start` does: a clean environment, the dashboard as it is in the sources, then the service.
import { handOver, takeEnvironment } from "../environment/handover.ts";
import { closeInheritedFiles } from "../environment/inherited-files.ts";

closeInheritedFiles();
handOver(process);
// At once: the builder would inherit what was handed over.
const environment = takeEnvironment(process);

// Not before: up to here everything is loaded twice, because the process replaces itself.
const { buildDashboard } = await import("./build.ts");
await buildDashboard();
const { startWithSeed } = await import("./seed/seed.ts");
await startWithSeed(process, environment, () => import("../main.ts"));
