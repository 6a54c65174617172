// Checks stored backups: reads the file again (verification), or restores it into a scratch place and compares the result (drill).
import type { Logger } from "pino";
import type { DrillState } from "../../../contract/backups/backup.ts";
import type { Clock } from "../../clock.ts";
import { theService } from "../../activity/actor.ts";
import { recordActivity } from "../../activity/store.ts";
import { recordEvent } from "../../events/store.ts";
import type { Connection } from "../../store/database.ts";
import { backupEntry, canceledAction, drillFailedEvent } from "../event-data.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import { isEncrypted } from "../../encryption/encrypt.ts";
import { createOutput, type Output } from "../output.ts";
import { DamagedBackup } from "../pipeline/read-verified.ts";
import type { Chain } from "../incremental/chain.ts";
import { findFileKeys } from "../file-keys.ts";
import type { NoteDamage } from "./note-damage.ts";
import type { Resolver } from "../resolver.ts";
import type { RecoveryWriter } from "../recovery/recovery-writer.ts";
import type { Manifest } from "../sources/source.ts";
import type { TaskRow, TaskStore } from "../tasks/task-store.ts";
import {
  cancellationMessage,
  Canceled,
  operatorMessage,
  failureMessage,
  Interrupted,
  TimedOut,
} from "../failure-message.ts";

export type VerificationOptions = {
  store: BackupStore;
  configurations: ConfigurationStore;
  tasks: TaskStore;
  chain: Chain;
  note: NoteDamage;
  resolver: Resolver;
  recovery: Pick<RecoveryWriter, "request">;
  clock: Clock;
  log: Logger;
};

type Drilled = { task: TaskRow; row: BackupRow; configuration: ConfigurationRow };

/** `reason` is for the operator. */
type Unproven = { status: DrillState; reason: string };

/** How a drill that proved nothing ended. @param reason why it was ended from outside, if it was */
const unprovenState = (reason: unknown): DrillState => {
  if (reason instanceof Canceled) return "canceled";
  return reason instanceof Interrupted && !(reason instanceof TimedOut) ? "interrupted" : "failed";
};

export function createVerification(options: VerificationOptions) {
  const { store, configurations, tasks, chain, note, resolver, recovery, clock, log } = options;
  const now = () => new Date(clock.now());

  /** Ends a drill that could only verify the file. It proves no restore, but the next one is due at the usual time. */
  const endVerified = (task: TaskRow, row: BackupRow, output: Output) =>
    store.transaction(async (tx) => {
      if (!(await tasks.end(tx, task))) return;
      const at = now();
      const drilled = { drill_status: null, drill_output: output.text(), drilled_at: at };
      await note.sound(tx, row, at, drilled);
    });

  /** Ends a drill that proved nothing. Only a failed one counts against its source; an interrupted one is due again. */
  async function endUnproven(
    tx: Connection,
    { task, row, configuration }: Drilled,
    { status, reason }: Unproven,
    output: Output,
  ): Promise<void> {
    const at = now();
    const drilled_at = status === "interrupted" ? row.drilled_at : at;
    const drill_output = output.text();
    await store.update(tx, row.id, { drill_status: status, drill_output, drilled_at });
    if (status === "canceled")
      await recordActivity(
        tx,
        backupEntry(configuration, row, canceledAction.drill, { detail: reason }),
      );
    if (status !== "failed") return;
    const details = { reason, startedAt: task.started_at, endedAt: at };
    await configurations.setDrillFailed(tx, row, at);
    await recordEvent(tx, drillFailedEvent(configuration, row, details));
  }

  return {
    /** Verifies a stored file and stores the result. An unavailable storage changes nothing. */
    async verify(
      task: TaskRow,
      row: BackupRow,
      configuration: ConfigurationRow,
      signal: AbortSignal,
    ): Promise<void> {
      let found: DamagedBackup | "sound" | null = null;
      try {
        await chain.verify(await resolver.storage(row.storage_provider_id), row, signal);
        found = "sound";
      } catch (error) {
        if (error instanceof DamagedBackup) found = error;
        else log.warn({ err: error, backup: row.id }, "a stored file could not be verified");
      }
      let isOtherSound = false;
      await store.transaction(async (tx) => {
        if (!(await tasks.end(tx, task))) return;
        if (found === "sound") isOtherSound = await note.sound(tx, row, now());
        else if (found !== null) await note.damaged(tx, configuration, row, found, now());
      });
      const damage = found instanceof DamagedBackup ? found.message : null;
      if (isOtherSound || (found !== null && damage !== row.damage))
        recovery.request(row.storage_provider_id);
    },

    async drill(
      task: TaskRow,
      row: BackupRow,
      configuration: ConfigurationRow,
      signal: AbortSignal,
    ): Promise<void> {
      const output = createOutput();
      let damage: DamagedBackup | null = null;
      let unproven: Unproven | null = null;
      try {
        // An imported backup names roles of an unknown server.
        const keeps_owners = row.trigger !== "import";
        const { place, drill } = await resolver.drill(configuration, { keeps_owners });
        const storage = await resolver.storage(row.storage_provider_id);
        const identity = await resolver.drillIdentity(row.storage_provider_id);
        await chain.verify(storage, row, signal);
        output.say("Stored file verified.");
        if (isEncrypted(row.path) && identity === null) {
          output.say(notDecrypted);
          return await endVerified(task, row, output);
        }
        if (place !== null) output.say(`Drilling on ${place}.`);
        const attempt = { id: row.id, say: output.say, signal };
        // Was stored as a manifest; older rows have none.
        const manifest = row.manifest as Manifest | null;
        const keys =
          identity !== null && isEncrypted(row.path)
            ? await findFileKeys(
                storage,
                { row, base: await chain.baseOf(row) },
                { identity },
                signal,
              )
            : null;
        output.say(
          await drill(await chain.open(storage, row, { keys }, signal), manifest, attempt),
        );
      } catch (error) {
        if (operatorMessage(error) === null)
          log.error({ err: error, backup: row.id }, "a drill failed unexpectedly");
        if (error instanceof DamagedBackup) damage = error;
        // Damage is damage, whatever else ends the drill.
        const ending: unknown = damage === null ? signal.reason : undefined;
        const reason =
          ending instanceof Canceled ? cancellationMessage(ending, "drill") : failureMessage(error);
        unproven = { status: unprovenState(ending), reason };
        output.say(reason);
      }
      await store.transaction(async (tx) => {
        await configurations.lock(tx, configuration.id);
        if (!(await tasks.end(tx, task))) return;
        const at = now();
        if (unproven !== null)
          await endUnproven(tx, { task, row, configuration }, unproven, output);
        if (damage !== null) await note.damaged(tx, configuration, row, damage, at);
        if (unproven !== null) return;
        const drilled = { drill_output: output.text(), drilled_at: at };
        await note.sound(tx, row, at, { ...drilled, drill_status: "finished" });
        await configurations.setProven(tx, row, at);
        await recordActivity(
          tx,
          backupEntry(configuration, row, "proven restorable", {
            outcome: "good",
            actor: theService,
          }),
        );
      });
      if (damage !== null || row.damage !== null) recovery.request(row.storage_provider_id);
    },

    /** Settles an interrupted drill. */
    async settleDrill(
      task: TaskRow,
      row: BackupRow,
      configuration: ConfigurationRow,
      reason: Interrupted,
    ): Promise<void> {
      const output = createOutput(row.drill_output ?? "");
      try {
        const { settle } = await resolver.drill(configuration);
        await settle({ id: row.id, say: output.say, signal: AbortSignal.timeout(60_000) });
      } catch (error) {
        log.error({ err: error, backup: row.id }, "a drill's scratch place was not cleared");
      }
      output.say(reason.message);
      const unproven = { status: unprovenState(reason), reason: reason.message };
      await store.transaction(async (tx) => {
        await configurations.lock(tx, configuration.id);
        if (await tasks.end(tx, task))
          await endUnproven(tx, { task, row, configuration }, unproven, output);
      });
    },
  };
}

const notDecrypted =
  "Not restored: the backup is encrypted, and its storage provider has no drill_identity. Only a restore with your identity shows that it can be restored.";
