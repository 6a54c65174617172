// `npm start`: a clean environment, the dashboard as it is in the sources, then the service.
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { handOver, takeEnvironment } from "../environment/handover.ts";
import { closeInheritedFiles } from "../environment/inherited-files.ts";
import { buildDashboard } from "./build.ts";
import { startWithSeed } from "./seed/seed.ts";

closeInheritedFiles();
handOver(process);
// At once: the builder would inherit what was handed over.
const environment = takeEnvironment(process);

// In the project's own folder: the default one in /tmp would take code from whoever came first.
enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/node", import.meta.url)));
await buildDashboard();
await startWithSeed(process, environment, () => import("../main.ts"));
