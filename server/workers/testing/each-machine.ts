// Runs tests of workers with the supervisor inside the service on this machine, and with the supervisord of a remote server.
import { afterAll } from "vitest";
import { eachMachine, knowsAccount } from "../../ssh/testing/remote-server.ts";
import { createTestService, oneSite, type TestService } from "../../testing/service.ts";
import { startSupervisord, type TestSupervisord } from "../supervisord/testing/supervisord.ts";

/**
 * Sets `number` to the number of the process, in a script that replaces a site's `artisan`. One variable is the mark by which the
 * supervisor finds a worker's processes, the other one is set by supervisord.
 */
export const readNumber =
  "number=${QUARTERDECK_WORKER%/*}; number=${number:-$SUPERVISOR_PROCESS_NAME}; number=${number##*[-/]}";

export type WorkerMachine = ReturnType<typeof eachWorkerMachine>[number];

/** Call at the top of a test file. All services of the file share one remote server with one supervisord. */
export function eachWorkerMachine() {
  let starting: Promise<TestSupervisord> | null = null;
  afterAll(async () => (await starting)?.close());
  return eachMachine().map(({ machine, connectionOf, isWhole }, index) => {
    const isRemote = index > 0;
    /** Returns the text that replaces `connection: local` in an inventory. */
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
      /** Returns why a start failed whose directory leads out of the site's folder. On a remote server the process itself reports it. */
      leadsOut: (typed: string, target: string) =>
        isRemote
          ? `Quarterdeck: the directory leads out of the site's folder, to ${target}`
          : `Couldn't start: the directory ${typed} leads out of the site's folder, to ${target}`,
      /** Whether kills are recorded in the worker's log, which on a remote server supervisord writes. */
      notesKills: !isRemote,
      /** Creates a service whose inventory has this machine as its server. */
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
