// Object lock of S3: how long a bucket refuses to delete objects, and how to remove the versions that a deletion would leave
// behind.
import {
  DeleteObjectCommand,
  GetBucketVersioningCommand,
  GetObjectLockConfigurationCommand,
  GetObjectRetentionCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutObjectRetentionCommand,
  type DefaultRetention,
  type ObjectLockRetention,
  type S3Client,
} from "@aws-sdk/client-s3";
import { countOf } from "../../contract/count-text.ts";
import { isDenied, isMissingObject, isRefused, isWithoutLocks } from "./s3-diagnosis.ts";
import { ObjectLocked, StorageError, type StorageLocks } from "./storage.ts";

/** The lock in the inventory. */
export type S3Lock = { mode: "governance" | "compliance"; days: number };

type Options = { client: S3Client; bucket: string; place: string; lock: S3Lock | null };

const noLock = { mode: null, until: null };

const namesOfMode = { governance: "GOVERNANCE", compliance: "COMPLIANCE" } as const;

const daysOf = (days: number) => countOf(days, "day");

/** @returns a period and its mode, for messages */
function inWords({ Mode, Days, Years }: DefaultRetention): string {
  const period = Days === undefined ? `${Years ?? 0} years` : daysOf(Days);
  return `${period} (${Mode?.toLowerCase() ?? "no mode"})`;
}

export function createS3Locks({ client, bucket: Bucket, place, lock }: Options) {
  /** @returns the lock of an object, or of one of its versions; null = it does not exist */
  async function lockOf(Key: string, VersionId?: string) {
    try {
      const head = await client.send(new HeadObjectCommand({ Bucket, Key, VersionId }));
      return {
        mode: head.ObjectLockMode ?? null,
        until: head.ObjectLockRetainUntilDate ?? null,
        isHeld: head.ObjectLockLegalHoldStatus === "ON",
      };
    } catch (error) {
      if (isMissingObject(error)) return null;
      throw error;
    }
  }

  type Lock = NonNullable<Awaited<ReturnType<typeof lockOf>>>;

  function refuseLocked(found: Lock | null): void {
    if (found?.isHeld === true)
      throw new StorageError(`${place} has a legal hold on the file. Lift it there first.`);
    if (found?.until != null && found.until.getTime() > Date.now())
      throw new ObjectLocked(place, found.until);
  }

  /**
   * @param permission to name in the message
   * @throws StorageError where the credentials lack it
   */
  async function permitted<Result>(permission: string, work: () => Promise<Result>) {
    try {
      return await work();
    } catch (error) {
      if (!isDenied(error)) throw error;
      throw new StorageError(
        `${place} denies ${permission}. Give the key that permission${lock === null ? "" : ", or remove lock from the inventory"}.`,
        { cause: error },
      );
    }
  }

  async function removeVersion(Key: string, VersionId: string): Promise<void> {
    try {
      await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
    } catch (error) {
      if (!isDenied(error)) throw error;
      refuseLocked(await lockOf(Key, VersionId));
      throw new StorageError(
        `${place} refuses to delete the file. It is locked there, or the key lacks s3:DeleteObjectVersion or s3:GetObjectRetention: give it these permissions.`,
        { cause: error },
      );
    }
  }

  /** Also removes delete markers, which hide versions that use space. */
  async function removeVersions(Prefix: string): Promise<void> {
    for (let KeyMarker: string | undefined, VersionIdMarker: string | undefined; ;) {
      const page = await permitted("s3:ListBucketVersions", () =>
        client.send(new ListObjectVersionsCommand({ Bucket, Prefix, KeyMarker, VersionIdMarker })),
      );
      for (const { Key, VersionId } of [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])])
        if (Key === Prefix && VersionId !== undefined) await removeVersion(Key, VersionId);
      if (page.IsTruncated !== true) return;
      ({ NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page);
    }
  }

  /** @returns null where the configuration cannot be read */
  async function readBucket(abortSignal: AbortSignal) {
    try {
      const { ObjectLockConfiguration: found } = await client.send(
        new GetObjectLockConfigurationCommand({ Bucket }),
        { abortSignal },
      );
      return {
        hasLocks: found?.ObjectLockEnabled === "Enabled",
        byDefault: found?.Rule?.DefaultRetention ?? null,
      };
    } catch (error) {
      if (isWithoutLocks(error)) return { hasLocks: false, byDefault: null };
      if (isDenied(error)) return null;
      throw error;
    }
  }

  const retain = (Key: string, Retention: ObjectLockRetention, abortSignal: AbortSignal) =>
    permitted("s3:PutObjectRetention", () =>
      client.send(new PutObjectRetentionCommand({ Bucket, Key, Retention }), { abortSignal }),
    );

  /** Also false where that cannot be read, because it only affects a message. */
  const keepsVersions = (abortSignal: AbortSignal): Promise<boolean> =>
    client.send(new GetBucketVersioningCommand({ Bucket }), { abortSignal }).then(
      ({ Status }) => Status === "Enabled",
      () => false,
    );

  const wanted =
    lock === null ? null : `Backups are locked for ${daysOf(lock.days)} (${lock.mode})`;

  return {
    /**
     * Removes an object including its versions, so that its space is freed. Without locks, keeping versions is the choice of the
     * bucket's owner, so they stay.
     * @throws ObjectLocked
     */
    async remove(Key: string): Promise<void> {
      const found = await lockOf(Key);
      // A deletion without a version would only hide a locked object, and free no space.
      refuseLocked(found);
      if (lock !== null || (found !== null && found.mode !== null)) await removeVersions(Key);
      else await client.send(new DeleteObjectCommand({ Bucket, Key }));
    },

    locks: {
      days: lock?.days ?? null,

      until: async (key) => (await lockOf(key))?.until ?? null,

      async extend(Key, until, { signal: abortSignal }) {
        const found = await lockOf(Key);
        if (found === null) return null;
        if (found.until !== null && found.until >= until) return found.until;
        // A locked object keeps its mode, which cannot be weakened.
        const Mode = found.mode ?? namesOfMode[lock?.mode ?? "governance"];
        await retain(Key, { Mode, RetainUntilDate: until }, abortSignal);
        // The lock that the bucket reports counts, not the requested one.
        const now = await lockOf(Key);
        if (now?.until === null)
          throw new StorageError(
            `${place} doesn't say that the file is locked. It has no object lock, or the key lacks the permission s3:GetObjectRetention.`,
          );
        return now?.until ?? null;
      },

      async tryOn(Key, { signal: abortSignal }) {
        const { mode: Mode, until: RetainUntilDate } = (await lockOf(Key)) ?? noLock;
        // With the permission to lock, the service rejects a date in the past, and nothing is locked. An existing lock of the
        // bucket is requested again unchanged.
        const retention =
          Mode === null || RetainUntilDate === null
            ? { Mode: namesOfMode.governance, RetainUntilDate: new Date(0) }
            : { Mode, RetainUntilDate };
        const tries = [
          () => retain(Key, retention, abortSignal),
          () =>
            permitted("s3:GetObjectRetention", () =>
              client.send(new GetObjectRetentionCommand({ Bucket, Key }), { abortSignal }),
            ),
        ];
        for (const one of tries)
          await one().catch((error: unknown) => {
            if (!isRefused(error)) throw error;
          });
      },

      async check({ signal }) {
        const found = await readBucket(signal);
        if (found === null)
          return [
            `${wanted === null ? "" : `${wanted}. `}Whether the bucket has object lock is unknown: the key may not read its configuration (s3:GetBucketObjectLockConfiguration).`,
          ];
        if (!found.hasLocks && wanted !== null)
          throw new StorageError(
            `${place} has no object lock, so backups can't be locked there. Turn on object lock for the bucket, or remove lock from the inventory.`,
          );
        if (!found.hasLocks)
          return [
            "The bucket has no object lock: whoever has the key can delete backups",
            ...((await keepsVersions(signal))
              ? [
                  "The bucket keeps versions: deleted backups take room there until a lifecycle rule of the bucket removes them",
                ]
              : []),
          ];
        if (found.byDefault === null)
          return [
            wanted ?? "The bucket has object lock, but lock isn't set: backups aren't locked",
          ];
        const rule = `The bucket locks each new file for ${inWords(found.byDefault)}`;
        return wanted === null
          ? [`${rule}: backups can't be deleted before, neither by retention nor on request`]
          : [wanted, `${rule} as well; the longer one applies`];
      },
    } satisfies StorageLocks,
  };
}
