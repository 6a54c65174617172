import { fileURLToPath } from "node:url";

/** Environment variables for a program in TypeScript: keeps its compiled code, because compiling takes longer than most runs. */
export const keptCode = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/node", import.meta.url)),
};
