// A process that restores and is killed for it; run by the test beside it.
import { createReadStream } from "node:fs";
import { attemptOf, sourceOf } from "./mysql-testing.ts";

const [url = "", scratchFolder = "", file = ""] = process.argv.slice(2);
process.send?.("begins");
await sourceOf(url, scratchFolder).restore(createReadStream(file), attemptOf(6));
