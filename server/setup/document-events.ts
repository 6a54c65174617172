// `npm run document`: writes the events into docs/webhooks.md.
import { readFile, writeFile } from "node:fs/promises";
import { withEvents } from "../events/document.ts";

const file = new URL("../../docs/webhooks.md", import.meta.url);
await writeFile(file, withEvents(await readFile(file, "utf8")));
