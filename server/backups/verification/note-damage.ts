// Stores whether files are intact or damaged: for a backup, the full that it needs, and all other backups that need that full.
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

/** Changes of a row whose file was found intact. */
const sound = (at: Date) => ({ verified_at: at, checked_at: at, damage: null });

export function createNoteDamage({ store, chainStore }: NoteDamageOptions) {
  /** @returns whether another backup is no longer damaged */
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
    // Reported once, not with every weekly verification.
    if (row.damage === null)
      await recordEvent(tx, damagedEvent(configuration, row, { reason: damage, foundAt: at }));
  }

  return {
    /**
     * Stores that the files of a backup are intact.
     * @param more further changes of its row
     * @returns whether another backup is no longer damaged
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

    /** Stores that the file of a backup, or of the full that it needs, is damaged. The latter is reported for the full's configuration. */
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
