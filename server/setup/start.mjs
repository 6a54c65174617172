// `npm start`, in plain JavaScript: for a first file in TypeScript Node would load its compiler, which takes time and
// memory, although the cache has what that makes of all files.
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// In the project's own folder: the default one in /tmp would take code from whoever came first.
enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/node", import.meta.url)));
await import("./start.ts");
