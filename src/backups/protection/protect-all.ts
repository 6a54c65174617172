// Plans "Protect all": a configuration for each unprotected source of a server, with start times spread evenly.
import * as z from "zod/mini";
import type { BackupableType } from "../../../contract/backups/backup.ts";
import {
  createBackupConfigurationBody,
  type CreateBackupConfigurationBody,
} from "../../../contract/backups/bodies.ts";
import { keysOf } from "../../../contract/keys-of.ts";
import { id } from "../../../contract/values.ts";
import type { Choices } from "../form/choices.ts";

const hourMinutes = 60;
const nightBegins = hourMinutes;
const nightMinutes = 4 * hourMinutes;

/** The frequency, and the period within which all runs start. */
export const spreads = {
  night: { label: "Every night, 01:00 to 05:00", minutes: nightMinutes },
  quarter: { label: "Every 6 hours", minutes: 6 * hourMinutes },
  hour: { label: "Every hour", minutes: hourMinutes },
} as const;

type Spread = keyof typeof spreads;

/** Returns the schedule of one of `count` configurations, so that as few as possible start at the same time. */
export function frequencyOf(spread: Spread, index: number, count: number): string {
  const offset = Math.floor((index * spreads[spread].minutes) / count);
  const minute = offset % hourMinutes;
  const hour = Math.floor(offset / hourMinutes);
  if (spread === "hour") return `${minute} * * * *`;
  if (spread === "quarter")
    return `${minute} ${[0, 6, 12, 18].map((first) => first + hour).join(",")} * * *`;
  return `${minute} ${nightBegins / hourMinutes + hour} * * *`;
}

/** A site or a database without a backup. */
export type Target = { type: BackupableType; id: number; name: string; label: string };

/** @param configurations all configurations of the server, with any status */
export function unprotectedOf(
  { databases, sites }: Pick<Choices, "databases" | "sites">,
  configurations: readonly {
    type: BackupableType;
    backupable: { id: number };
    status: string;
    adopted_at?: string | null | undefined;
  }[],
): Target[] {
  const configured = new Set(
    configurations
      .filter(({ status, adopted_at: adoptedAt }) => status !== "removing" && !adoptedAt)
      .map(({ type, backupable }) => `${type} ${backupable.id}`),
  );
  return [
    ...(databases ?? []).map((one) => ({ type: "database" as const, ...one })),
    ...(sites ?? []).map((one) => ({ type: "site" as const, ...one })),
  ].filter((one) => !configured.has(`${one.type} ${one.id}`));
}

/** The settings that all configurations share. */
export const protectAllForm = z.object({
  spread: z.enum(keysOf(spreads)),
  ...z.pick(createBackupConfigurationBody, { hold: true, drill: true }).shape,
  // Ids of another service may be larger than ours.
  storage_provider_id: id,
});
export type ProtectAll = z.infer<typeof protectAllForm>;

export const bodyOf = (
  { spread, ...settings }: ProtectAll,
  target: Target,
  index: number,
  count: number,
): CreateBackupConfigurationBody => ({
  ...settings,
  name: target.name,
  frequency: frequencyOf(spread, index, count),
  backupable_type: target.type,
  backupable_id: target.id,
});
