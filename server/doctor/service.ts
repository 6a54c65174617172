// Checks the installation for the dashboard.
import type { Diagnosis } from "../../contract/doctor.ts";
import type { AppOptions } from "../app-options.ts";
import type { LocalHost } from "../hosts/host.ts";
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
  /** Environment of `ssh`, and the folder from which relative paths of keys start. */
  sshOptions: { environment: Record<string, string>; inventoryFolder: string };
};

export function createDoctorService({ options, host, sshOptions }: DoctorOptions) {
  /** Uses connections of its own, as the command does: those that the service has open say less about a new one. */
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
  return {
    /** Requests that come during a check share its results, because it connects to every server and storage. */
    check: (): Promise<Diagnosis[]> =>
      (running ??= check().finally(() => {
        running = null;
      })),
  };
}

export type DoctorService = ReturnType<typeof createDoctorService>;
