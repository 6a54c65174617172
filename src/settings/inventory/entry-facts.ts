// Summarizes an entry in one line.
import { serverEngines } from "../../../contract/backups/engines.ts";
import type { FileEntries, InventoryKind } from "../../../contract/inventory/entries.ts";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import { engineWords, secretWords } from "./kinds.ts";

type Facts = (entry: FileEntries[InventoryKind], servers: InventoryFile["servers"]) => string[];

const encryptionFact = (recipients: readonly string[] | undefined): string[] =>
  recipients === undefined ? [] : ["New backups are encrypted"];

export const factsOf: Facts = (entry, servers) => {
  const serverName = (id: number) =>
    servers.find((server) => server.id === id)?.name ?? `Server ${id}`;
  if ("connection" in entry) {
    if (entry.connection === "local") return ["This machine"];
    const { host, port, user, key, host_key: hostKey } = entry.connection.ssh;
    return [
      `${user}@${host}${port === undefined || port === 22 ? "" : `:${port}`}`,
      `Key: ${secretWords(key)}`,
      ...(hostKey === undefined ? ["No host key pinned"] : []),
    ];
  }
  if ("root" in entry) return [serverName(entry.server), entry.root];
  if ("engine" in entry)
    return [
      serverName(entry.server),
      engineWords[(entry.scope === "server" ? serverEngines[entry.engine] : null) ?? entry.engine],
      entry.engine === "sqlite" ? entry.path : `URL: ${secretWords(entry.url)}`,
    ];
  switch (entry.type) {
    case "local":
      return [
        entry.server === undefined ? "This machine" : serverName(entry.server),
        entry.path,
        ...encryptionFact(entry.recipients),
      ];
    case "s3":
      return [
        `Bucket ${entry.bucket}`,
        `Keys: ${secretWords(entry.secret_key)}`,
        ...(entry.lock === undefined
          ? []
          : [`Locked for ${entry.lock.days} days (${entry.lock.mode})`]),
        ...encryptionFact(entry.recipients),
      ];
    case "rclone":
      return [
        `rclone ${entry.remote}`,
        entry.config === undefined ? "rclone's own config" : `Config: ${secretWords(entry.config)}`,
        ...encryptionFact(entry.recipients),
      ];
    case "sftp": {
      const { host, port, user } = entry.ssh;
      return [
        `${user}@${host}${port === undefined || port === 22 ? "" : `:${port}`}`,
        entry.path,
        ...encryptionFact(entry.recipients),
      ];
    }
    case "email":
      return ["Email", entry.email];
    case "slack":
      return ["Slack", `Webhook: ${secretWords(entry.webhook)}`];
    case "discord":
      return ["Discord", `Webhook: ${secretWords(entry.webhook)}`];
  }
};
