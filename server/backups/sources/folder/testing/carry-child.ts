// Restores in a separate process, which a test kills. Arguments: folder, scratch folder, archive, manifest.
import { createReadStream, readFileSync } from "node:fs";
import { createLocalHost } from "../../../../hosts/local.ts";
import { createFolderSource } from "../source.ts";

const [root = "", scratchFolder = "", file = "", manifest = ""] = process.argv.slice(2);
const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/tmp" });
const source = createFolderSource({ host, name: "shop", root, scratchFolder });
const attempt = { id: 7, say: () => undefined, signal: new AbortController().signal };
process.stdout.write("begun\n");
await source.restore(createReadStream(file), attempt, JSON.parse(readFileSync(manifest, "utf8")));
