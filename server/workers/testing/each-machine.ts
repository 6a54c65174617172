// What is promised of workers is kept by the supervisor inside the service on this machine, and by the supervisord of a
// remote server.
import { afterAll } from "vitest";
import { eachMachine, knowsAccount } from "../../ssh/testing/remote-server.ts";
import { createTestService, oneSite, type TestService } from "../../testing/service.ts";
import { startSupervisord, type TestSupervisord } from "../supervisord/testing/supervisord.ts";

/**
 * Sets `number` in a script that stands in for a site's `artisan`: which process of the worker it is. The one variable is
 * the mark by which the supervisor finds what a worker started, the other is supervisord's.
 */
export const readNumber =
  "number=${QUARTERDECK_WORKER%/*}; number=${number:-$SUPERVISOR_PROCESS_NAME}; number=${number##*[-/]}";

export type WorkerMachine = ReturnType<typeof eachWorkerMachine>[number];

/** For the top of a file, which has one remote server with one supervisord, however many services it makes. */
export function eachWorkerMachine() {
  let starting: Promise<TestSupervisord> | null = null;
  afterAll(async () => (await starting)?.close());
  return eachMachine().map(({ machine, connectionOf, isWhole }, index) => {
    const isRemote = index > 0;
    /** In place of `connection: local` in an inventory. */
    async function entryOf(): Promise<string> {
      const config = isRemote
        ? `, supervisord_config: ${(await (starting ??= startSupervisord())).config}`
        : "";
      return `connection: ${await connectionOf()}${config}`;
    }
    return {
      machine,
      isRemote,
      isWhole,
      entryOf,
      /** Why a start failed whose directory leads out of the site's folder; there it is found out by the process itself. */
      leadsOut: (typed: string, target: string) =>
        isRemote
          ? `Quarterdeck: the directory leads out of the site's folder, to ${target}`
          : `Couldn't start: the directory ${typed} leads out of the site's folder, to ${target}`,
      /** Whether what is killed stands in the worker's log, which supervisord writes there. */
      notesKills: !isRemote,
      /** A service whose inventory has its server there. */
      async createService({
        inventory = oneSite,
        ...options
      }: Parameters<typeof createTestService>[0] = {}): Promise<TestService> {
        const entry = await entryOf();
        const service = await createTestService({
          ...options,
          inventory: (folder) => inventory(folder).replace("connection: local", entry),
        });
        await knowsAccount(service);
        return service;
      },
    };
  });
}
