// `npm start`: the dashboard as it is in the sources, then the service.
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { buildDashboard } from "./build.ts";

// In the project's own folder: the default one in /tmp would take code from whoever came first.
enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/node", import.meta.url)));
await buildDashboard();
await import("../main.ts");
