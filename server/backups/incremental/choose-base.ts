// Decides whether a run stores the changes since a full or a new full, and why. Pure.
import { dirname } from "node:path/posix";
import { isOfRun } from "../../../contract/backups/backup.ts";
import { fullKeptDays, maxPatches } from "../../../contract/backups/incremental.ts";
import { isEncrypted } from "../../encryption/encrypt.ts";
import type { BackupRow } from "../backup-store.ts";
import { maxContentBytes, patchMemoryBytes, roomFor } from "./patch.ts";
import { sizeInWords } from "../formatting.ts";

/** Share of the full's size from which on changes are worth a new full. */
const worthShare = 0.5;

const dayMs = 24 * 3_600_000;

type Facts = Pick<
  BackupRow,
  | "id"
  | "base_id"
  | "storage_provider_id"
  | "trigger"
  | "damage"
  | "checksum"
  | "path"
  | "size"
  | "plain_size"
  | "started_at"
>;

type Coming = {
  storageProviderId: number;
  /** Folder of its file in the storage. */
  folder: string;
  willBeEncrypted: boolean;
  at: Date;
};

type Choice<Backup> = { base: Backup } | { reason: string };

/** @param finished the configuration's finished backups, newest first @returns the full to use, or why a new one is needed */
export function chooseBase<Backup extends Facts>(
  finished: readonly Backup[],
  { storageProviderId, folder, willBeEncrypted, at }: Coming,
): Choice<Backup> {
  const base = finished.find(
    (one) => one.base_id === null && isOfRun(one) && one.storage_provider_id === storageProviderId,
  );
  if (base === undefined) return { reason: "the storage has no full backup yet" };
  const name = `backup ${base.id}, the last full one,`;
  if (base.damage !== null) return { reason: `${name} is damaged` };
  if (base.checksum === null) return { reason: `${name} has no checksum` };
  if (dirname(base.path) !== folder) return { reason: `${name} is in another directory` };
  if (isEncrypted(base.path) !== willBeEncrypted)
    return { reason: `${name} is ${willBeEncrypted ? "not encrypted" : "encrypted"}` };
  if (base.plain_size === 0) return { reason: `${name} is empty` };
  if (base.plain_size > maxContentBytes)
    return { reason: `${name} is larger than ${sizeInWords(maxContentBytes)} before compression` };
  if (at.getTime() - base.started_at.getTime() >= fullKeptDays * dayMs)
    return { reason: `${name} is ${fullKeptDays} days old` };
  const patches = finished.filter(({ base_id: baseId }) => baseId === base.id);
  if (patches.length >= maxPatches)
    return { reason: `${patches.length} backups need ${name.slice(0, -1)}` };
  const [last] = patches;
  if (last !== undefined && last.size > base.size * worthShare)
    return {
      reason: `the last changes (${sizeInWords(last.size)}) were more than half of ${name.slice(0, -1)} (${sizeInWords(base.size)})`,
    };
  return { base };
}

/** Free resources of the service's machine, in bytes. */
export type Machine = { memoryBytes: number; diskBytes: number };

type Sizes = {
  /** Size of the full, before compression. */
  baseBytes: number;
  /** Size of the content, or its estimate. */
  contentBytes: number;
  /** Whether both are on the disk already. */
  isWritten?: boolean;
};

/** @returns why the machine cannot compute the changes; null = it can */
export function machineComplaint(
  { memoryBytes, diskBytes }: Machine,
  { baseBytes, contentBytes, isWritten = false }: Sizes,
): string | null {
  if (contentBytes === 0) return "the content is empty";
  if (contentBytes > maxContentBytes)
    return `the content is larger than ${sizeInWords(maxContentBytes)}`;
  const memory = patchMemoryBytes(baseBytes, contentBytes);
  if (memoryBytes < memory)
    return `this machine has ${sizeInWords(memoryBytes)} of memory free, and the changes take ${sizeInWords(memory)}`;
  const disk = roomFor(baseBytes + contentBytes);
  if (!isWritten && diskBytes < disk)
    return `the data folder has ${sizeInWords(diskBytes)} free, and the changes take ${sizeInWords(disk)}`;
  return null;
}
