import type { Diagnosis } from "../../contract/doctor.ts";
import { servedOperations } from "../../contract/served-operations.ts";
import type { AppOptions } from "../app-options.ts";
import type { LocalHost } from "../hosts/host.ts";
import { nothingToFind, reply, route, type Route } from "../http/route.ts";
import { createServers } from "../ssh/servers.ts";
import { diagnose } from "./diagnose.ts";

type DoctorOptions = {
  options: Pick<
    AppOptions,
    | "connection"
    | "dataFolder"
    | "inventoryFile"
    | "smtp"
    | "selfBackup"
    | "secrets"
    | "reservedAccounts"
    | "nodeVersion"
  >;
  host: LocalHost;
  /** What `ssh` sees, and where relative paths of keys start. */
  sshOptions: { environment: Record<string, string>; inventoryFolder: string };
};

export function doctorRoutes({ options, host, sshOptions }: DoctorOptions): Route[] {
  /** Over connections of its own, as the command does: those of the service say less of a new one. */
  async function check(): Promise<Diagnosis[]> {
    const servers = createServers({ local: host, ...sshOptions });
    try {
      return await diagnose({
        config: options,
        environment: options.secrets,
        isOfService: true,
        reservedAccounts: options.reservedAccounts,
        nodeVersion: options.nodeVersion,
        host,
        servers,
        openDatabase: async () => options.connection,
      });
    } finally {
      await servers.close();
    }
  }

  let running: Promise<Diagnosis[]> | null = null;
  /** Whoever asks meanwhile gets the same results: each check connects to every server and storage. */
  const checkOnce = () =>
    (running ??= check().finally(() => {
      running = null;
    }));
  return [
    route(servedOperations.checkInstallation, {
      find: nothingToFind,
      handle: async () => reply(200, { results: await checkOnce() }),
    }),
  ];
}
