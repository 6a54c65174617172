import { fileURLToPath } from "node:url";

/** For the environment of a program in TypeScript: to compile it anew each time takes longer than most of what it does. */
export const keptCode = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/node", import.meta.url)),
};
