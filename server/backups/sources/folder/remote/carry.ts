// As on the service's own machine, but `find` names what is left out.
import type { Host } from "../../../../hosts/host.ts";
import { pipelineEnds, pipelineOf } from "../../../../hosts/shell-pipeline.ts";
import { carryArguments, refuseUncarried, type Carry } from "../carry.ts";
import { cacheSignature, cacheTag, findArguments } from "../excludes.ts";
import { tarEnvironment } from "../tar.ts";
import type { Excludes } from "../../source.ts";
import { runScript } from "./script.ts";

/** Of each tag that is one the path; `$1` is the folder. */
const listTags = `[ -d "$1" ] || exit 0
find "$1" -mindepth 2 -type f -name ${cacheTag} -exec sh -c 'for f do
  [ "$(head -c ${cacheSignature.length} -- "$f")" = "${cacheSignature}" ] && printf "%s\\0" "$f"
done' sh {} + 2>/dev/null; exit 0`;

/** @param root real path @returns folders below it that are caches; none whose name is no text, which are backed up */
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
    // What find cannot read is replaced, as without anything that is left out.
    const [, carried = null] = pipelineEnds(stderr) ?? [];
    refuseUncarried(carried, stderr.replace(/^find: .*\n/gm, ""), pass);
  };
