// Describes the programs of supervisord that were found, and creates the workers that replace them.
import { createWorkerBody } from "../../contract/workers/bodies.ts";
import type { Discovery, TakeOverBody } from "../../contract/discovery.ts";
import { conflict, InvalidFields } from "../http/service-error.ts";
import type { ServerRow, SiteRow } from "../inventory/store.ts";
import { messageOf } from "../loggable-error.ts";
import { ServerAway, toShownText } from "../ssh/server-away.ts";
import type { Workers } from "../workers/workers.ts";
import { compareProgram, type RunningProgram } from "./compare-program.ts";
import { type FoundProgram, versionOf } from "./find-programs.ts";
import { siteAt } from "./known-entries.ts";
import { settingsOf, siteRootOf } from "./program-settings.ts";

export type WorkersOfPrograms = Pick<Workers, "takeOvers" | "lookAtPrograms" | "present">;

type FoundWorker = Discovery["queue_workers"][number];

/** Configuration files that supervisord and `supervisorctl` find by themselves. */
const usualFiles = new Set(["/etc/supervisor/supervisord.conf", "/etc/supervisord.conf"]);

const isUp = new Set(["STARTING", "RUNNING", "BACKOFF"]);

export function createPrograms({ takeOvers, lookAtPrograms, present }: WorkersOfPrograms) {
  /** Reads what supervisord reports of each program. A program without an account of its own runs as supervisord's. */
  async function readRunning(
    server: ServerRow,
  ): Promise<
    (name: string) => (RunningProgram & { running: number | null }) | { problem: string }
  > {
    try {
      const { processes, configured, uid } = await lookAtPrograms(server);
      return (name) => {
        const its = processes.filter(({ group }) => group === name);
        const config = configured.find(({ group }) => group === name);
        return {
          command: config === undefined ? null : (config.command ?? ""),
          uid: config?.uid === "supervisord's" ? uid : (config?.uid ?? null),
          running: its.length === 0 ? null : its.filter(({ state }) => isUp.has(state)).length,
        };
      };
    } catch (error) {
      if (error instanceof ServerAway) throw conflict(error.message);
      const problem = messageOf(error);
      return () => ({ problem });
    }
  }

  const siteOf = (sites: readonly SiteRow[], program: FoundProgram): SiteRow | null => {
    const root = siteRootOf(program);
    return root === null ? null : siteAt(sites, root);
  };

  return {
    async describe(
      server: ServerRow,
      sites: readonly SiteRow[],
      programs: readonly FoundProgram[],
    ): Promise<FoundWorker[]> {
      if (programs.length === 0) return [];
      const runningOf = await readRunning(server);
      const takers = await takeOvers.takersOn(server.id);
      return programs.map((program) => {
        const site = siteOf(sites, program);
        const running = runningOf(program.program);
        const taker = takeOvers.takerOf(takers, {
          program: program.program,
          siteId: site?.id ?? null,
          command: "problem" in running ? null : running.command,
        });
        return {
          program: program.program,
          command: toShownText(program.options.get("command") ?? ""),
          file: program.file,
          site_id: site?.id ?? null,
          settings: settingsOf(program),
          version: versionOf(program),
          running: "problem" in running ? null : running.running,
          ...compareProgram(program, site, running),
          worker: taker && { id: taker.id, take_over: taker.take_over.status },
        };
      });
    },

    /**
     * Creates a worker that takes over a program.
     * @param found the result of a new scan
     * @throws a conflict or InvalidFields
     */
    async takeOver(
      server: ServerRow,
      sites: readonly SiteRow[],
      found: { queue_workers: readonly FoundProgram[]; supervisordFile: string | null },
      { program: name, file, version, accept_differences: isAccepted, ...given }: TakeOverBody,
    ) {
      const program = found.queue_workers.find((one) => one.program === name && one.file === file);
      if (program === undefined)
        throw conflict(`${name} is not in ${file} any more. Scan the server again.`);
      if (versionOf(program) !== version)
        throw conflict(`${name} has changed in ${file}. Scan the server again.`);
      const site = siteOf(sites, program);
      const running = (await readRunning(server))(name);
      const { refusal, differences } = compareProgram(program, site, running);
      if (site === null || refusal !== null || "problem" in running)
        throw conflict(refusal ?? "Add its site first.");
      if (differences.length > 0 && isAccepted !== true)
        throw new InvalidFields({
          accept_differences: [`The worker would differ: ${differences.join(" ")}`],
        });
      const settings = createWorkerBody.safeParse({ ...given, ...settingsOf(program) });
      if (!settings.success)
        throw new InvalidFields(
          Object.fromEntries(
            (["connection", "queue"] as const)
              .filter((field) => settings.error.issues.some(({ path: [at] }) => at === field))
              .map((field) => [field, [`The ${field} field is required.`]]),
          ),
        );
      const config = found.supervisordFile;
      const row = await takeOvers.begin(
        site,
        {
          program: name,
          file,
          command: running.command ?? "",
          config: config === null || usualFiles.has(config) ? null : config,
          is_alone: program.isAlone,
        },
        settings.data,
      );
      return present(row, site);
    },
  };
}
