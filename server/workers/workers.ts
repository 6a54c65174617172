// Creates the room: its routes, the handlers of its jobs, and its start and stop.
import { join } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Worker } from "../../contract/workers/worker.ts";
import type { Clock } from "../clock.ts";
import type { LocalHost } from "../hosts/host.ts";
import type { Route } from "../http/route.ts";
import type { InventoryStore, ServerRow, SiteRow } from "../inventory/store.ts";
import type { Leases } from "../instances/leases.ts";
import type { Handlers, Jobs } from "../jobs/jobs.ts";
import type { MetricsPart } from "../metrics/part.ts";
import type { Servers } from "../ssh/servers.ts";
import type { Database } from "../store/database.ts";
import type { Deployer } from "./deployment/deployer.ts";
import { countRestarts, workerMetrics } from "./metrics.ts";
import { workerRoutes } from "./routes.ts";
import { toWorker } from "./serializer.ts";
import { createWorkerService } from "./service.ts";
import { createSharedRecords } from "./processes/shared-records.ts";
import { createWorkerStore, type WorkerRow } from "./store.ts";
import type { Away } from "./processes/process-manager.ts";
import { createProcessManagers } from "./processes/process-managers.ts";
import { createSupervisor } from "./supervisor/supervisor.ts";
import { type ForeignPrograms, lookAtPrograms } from "./supervisord/foreign-programs.ts";
import type { Machine } from "./supervisord/machine.ts";
import { createSupervisordManager } from "./supervisord/manager.ts";
import { createRemoteMachine } from "./supervisord/remote-machine.ts";
import type { TakeOvers } from "./take-over/take-overs.ts";

type WorkersOptions = {
  db: Database;
  inventory: InventoryStore;
  host: LocalHost;
  servers: Pick<Servers, "find" | "open">;
  leases: Pick<Leases, "isShared" | "has" | "condition" | "holdOfSite" | "holdFree">;
  jobs: Pick<Jobs, "send">;
  /** Folder for the records and logs of the processes. */
  folder: string;
  /** Distinguishes this installation from others, on servers with a supervisord. */
  installation: string;
  /** The mark of processes on this machine. */
  mark: string;
  /** Environment that workers inherit, without secrets. */
  environment: Record<string, string>;
  registry: Registry;
  clock: Clock;
  log: Logger;
};

export type Workers = {
  routes: Route[];
  handlers: Pick<Handlers, Extract<keyof Handlers, `worker.${string}`>>;
  metrics: MetricsPart;
  noteDeployment: Deployer["note"];
  takeOvers: Pick<TakeOvers, "begin" | "takersOn" | "takerOf">;
  /** Lists foreign programs of a server's supervisord. @throws SupervisordAway, ServerAway or RpcFault */
  lookAtPrograms(server: ServerRow): Promise<ForeignPrograms>;
  /** Returns a worker as in responses. */
  present(row: WorkerRow, site: SiteRow): Worker;
  /** Returns the ids of workers in a crash loop. */
  crashLoops(): Promise<number[]>;
  /**
   * Begins to look after servers: adopts the processes there, and resumes interrupted orders.
   * @param serverIds null = all
   */
  take(serverIds: readonly number[] | null): Promise<void>;
  /** Stops looking after servers, which another instance does from now on; their processes keep running. */
  leave(serverIds: readonly number[]): Promise<void>;
  /** Marks the workers of a server as unreachable, because no instance looks after it. */
  setAbandoned(serverId: number, away: Away): Promise<void>;
  /** Updates workers that another instance marked as unreachable on servers that this one looked after all the time. */
  regain(serverIds: readonly number[]): Promise<void>;
  /** Called once the inventory has changed. */
  followInventory(): void;
  /** To be called when a server responds again. */
  noteReached(serverId: number): void;
  /** @param processes whether they keep running; the next start of the service adopts them */
  stop(processes: "keep" | "stop"): Promise<void>;
};

export function createWorkers(options: WorkersOptions): Workers {
  const {
    db,
    inventory,
    host,
    servers,
    leases,
    folder,
    installation,
    mark,
    environment,
    registry,
    clock,
    log,
  } = options;
  // The account's variables are set for each process; the others are those of supervisord.
  const inherited = { PATH: environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin" };
  const here: Machine = {
    run: host.run,
    openSocket: async (path) => path,
    whyClosed: async () => null,
    environment: inherited,
  };
  const remotes = new Map<number, Machine>();
  const machineOf = ({ id, connection }: Pick<ServerRow, "id" | "connection">): Machine => {
    if (connection === "local") return here;
    const machine = remotes.get(id) ?? createRemoteMachine(() => servers.find(id));
    remotes.set(id, machine);
    return machine;
  };
  const store = createWorkerStore(db, leases);
  const records = leases.isShared ? createSharedRecords({ store, clock, log }) : null;
  const onRestart = countRestarts(registry);
  const service = createWorkerService({
    ...options,
    store,
    machineOf,
    createManager(listener) {
      const common = { ...listener, instance: installation, onRestart, clock, log };
      return createProcessManagers({
        embedded: createSupervisor({ ...common, instance: mark, folder, environment }),
        createSupervisord: (server) =>
          createSupervisordManager({
            ...common,
            onRecords: records?.keep,
            sharedLog: leases.isShared ? store.logOf : undefined,
            log: log.child({ server: server.id }),
            machine: machineOf(server),
            config: server.supervisordConfig,
            folder: join(folder, `server-${server.id}`),
          }),
        serverIdsOf: store.serverIdsOf,
        findServer: inventory.findServer,
        listServers: inventory.allServers,
        has: leases.has,
        log,
      });
    },
  });
  return {
    routes: workerRoutes(service, inventory),
    handlers: { "worker.apply": service.apply, "worker.deploy": service.deploy },
    metrics: workerMetrics(service),
    noteDeployment: service.noteDeployment,
    takeOvers: service.takeOvers,
    lookAtPrograms: (server) =>
      lookAtPrograms({ machine: machineOf(server), config: server.supervisordConfig }),
    present: (row, site) => toWorker(row, site, service.look(row)),
    crashLoops: async () => (leases.isShared ? store.crashLooping() : service.crashLoops()),
    async take(serverIds) {
      await service.take(serverIds);
      service.wake();
    },
    leave: service.leave,
    setAbandoned: service.setAbandoned,
    regain: service.regain,
    followInventory: service.followInventory,
    noteReached: service.noteReached,
    async stop(processes) {
      await service.close(processes);
      await records?.stop();
    },
  };
}
