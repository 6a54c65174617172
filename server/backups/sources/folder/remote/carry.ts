// Keeps what a backup excluded on another machine, like `carryHere`, but with `find` to list it.
import type { Host } from "../../../../hosts/host.ts";
import { pipelineEnds, pipelineOf } from "../../../../hosts/shell-pipeline.ts";
import { carryArguments, refuseUncarried, type Carry } from "../carry.ts";
import { cacheSignature, cacheTag, findArguments } from "../excludes.ts";
import { tarEnvironment } from "../tar.ts";
import type { Excludes } from "../../source.ts";
import { runScript } from "./script.ts";

/** Shell script: prints the path of each valid cache tag in the folder `$1`. */
const listTags = `[ -d "$1" ] || exit 0
find "$1" -mindepth 2 -type f -name ${cacheTag} -exec sh -c 'for f do
  [ "$(head -c ${cacheSignature.length} -- "$f")" = "${cacheSignature}" ] && printf "%s\\0" "$f"
done' sh {} + 2>/dev/null; exit 0`;

/** @param root real path @returns folders below it that are caches, except those whose name is not UTF-8, which are backed up */
export async function findCaches(
  host: Host,
  root: string,
  excludes: Excludes | null,
  signal: AbortSignal,
): Promise<string[]> {
  if (excludes?.caches !== true) return [];
  return (await runScript(host, listTags, [root], signal))
    .split("\0")
    .filter((path) => path.startsWith(`${root}/`) && !path.includes("\uFFFD"))
    .map((path) => path.slice(root.length + 1, -cacheTag.length - 1));
}

export const carryThere =
  (host: Host, excludes: Excludes): Carry =>
  async (from, to, pass, signal) => {
    const caches = await findCaches(host, from, excludes, signal);
    const names = findArguments(from, excludes, caches, "excluded");
    const { stderr } = await host.run({
      argv: pipelineOf(names, carryArguments(from, to, pass)),
      environment: tarEnvironment,
      signal,
    });
    // A folder that find cannot read is replaced, as if nothing were excluded.
    const [, carried = null] = pipelineEnds(stderr) ?? [];
    refuseUncarried(carried, stderr.replace(/^find: .*\n/gm, ""), pass);
  };
