// Notes what was found of stored files: of a backup, of the full that it needs, and of all others that need that one.
import { recordEvent } from "../../events/store.ts";
import type { Connection } from "../../store/database.ts";
import type { BackupChange, BackupRow, BackupStore } from "../backup-store.ts";
import { DamagedBase } from "../incremental/chain.ts";
import type { ChainStore } from "../incremental/chain-store.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import { damagedEvent } from "../event-data.ts";
import type { DamagedBackup } from "../pipeline/read-verified.ts";

type NoteDamageOptions = {
  store: Pick<BackupStore, "update">;
  chainStore: Pick<ChainStore, "setBaseDamage" | "clearBaseDamage" | "configurationOf">;
};

/** What is known of a stored file once it was found to be what was stored. */
const sound = (at: Date) => ({ verified_at: at, checked_at: at, damage: null });

export function createNoteDamage({ store, chainStore }: NoteDamageOptions) {
  /** @returns whether something is no longer damaged by it */
  async function setSound(
    tx: Connection,
    id: number,
    at: Date,
    more: BackupChange = {},
  ): Promise<boolean> {
    await store.update(tx, id, { ...more, ...sound(at) });
    return chainStore.clearBaseDamage(tx, id);
  }

  async function setDamaged(
    tx: Connection,
    configuration: ConfigurationRow,
    row: BackupRow,
    damage: string,
    at: Date,
  ): Promise<void> {
    await store.update(tx, row.id, { damage, checked_at: at });
    await chainStore.setBaseDamage(tx, row.id, damage, at);
    // Told once, not every week.
    if (row.damage === null)
      await recordEvent(tx, damagedEvent(configuration, row, { reason: damage, foundAt: at }));
  }

  return {
    /**
     * All that a backup needs is what was stored.
     * @param more what changes with it
     * @returns whether another backup is no longer damaged by it
     */
    async sound(
      tx: Connection,
      row: Pick<BackupRow, "id" | "base_id">,
      at: Date,
      more: BackupChange = {},
    ): Promise<boolean> {
      const isBaseSound = row.base_id !== null && (await setSound(tx, row.base_id, at));
      return (await setSound(tx, row.id, at, more)) || isBaseSound;
    },

    /** Its file is not what was stored, or that of the full that it needs, which is told under the full's own configuration. */
    async damaged(
      tx: Connection,
      configuration: ConfigurationRow,
      row: BackupRow,
      error: DamagedBackup,
      at: Date,
    ): Promise<void> {
      if (!(error instanceof DamagedBase))
        return setDamaged(tx, configuration, row, error.message, at);
      const { base, damage } = error;
      const its =
        base.configuration_id === configuration.id
          ? configuration
          : await chainStore.configurationOf(tx, base);
      return setDamaged(tx, its, base, damage, at);
    },
  };
}

export type NoteDamage = ReturnType<typeof createNoteDamage>;
