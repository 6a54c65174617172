// `verify`: checks whether the files in a storage are what was stored there, without a database and without the service.
import { countOf } from "../../contract/count-text.ts";
import { sizeInWords } from "../backups/formatting.ts";
import {
  verifyStorage,
  type Verified,
  type VerifyProgress,
} from "../backups/verification/verify-storage.ts";
import { toShownText } from "../ssh/server-away.ts";
import { StorageError } from "../storage/storage.ts";
import type { Command } from "./command.ts";
import { openStorage } from "./open-storage.ts";

const progressMs = 200;

export const verifyCommand: Command = {
  name: "verify",
  parameter: "<storage>",
  options: ["--json"],
  about: "Checks every stored file of a storage against the manifest beside it.",
  details: `Compares size and SHA-256. <storage> is a folder, s3://bucket[/prefix], rclone://remote:[path] or the id of a storage provider of the inventory that is no folder;
a bucket's access comes from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL, or from the
inventory. --json writes the result as JSON.`,
  failure:
    "a stored file is missing, damaged or has an unreadable manifest, or there was nothing to check",
  async run(context) {
    const { argument, say, showProgress, onEnd } = context;
    const stopping = new AbortController();
    onEnd(() => stopping.abort(new Error("Interrupted.")));
    const { storage, prefix } = await openStorage(context);
    let shownMs = 0;
    const onProgress = (progress: VerifyProgress) => {
      const now = performance.now();
      if (now - shownMs < progressMs) return;
      shownMs = now;
      showProgress(inWords(progress));
    };
    const verified = await verifyStorage(storage, { prefix, signal: stopping.signal, onProgress });
    showProgress("");
    if (context.options.has("--json"))
      say(
        JSON.stringify({ storage: argument, place: storage.place, ...asJson(verified) }, null, 2),
      );
    else for (const line of report(verified)) say(line);
    const { sound, problems } = verified;
    if (problems.length > 0)
      throw new StorageError(
        `${problems.length} of ${sound + problems.length} stored files in ${storage.place} failed the check.`,
      );
    if (sound === 0)
      throw new StorageError(
        `Nothing was checked: there is no stored file with a manifest in ${storage.place}${prefix === "" ? "" : ` below ${prefix}`}.`,
      );
    if (!context.options.has("--json"))
      say(
        `${countOf(sound, "stored file")} in ${storage.place} checked (${sizeInWords(verified.soundBytes)}), all sound.`,
      );
  },
};

const inWords = ({ files, ofFiles, bytes, ofBytes }: VerifyProgress) =>
  `${files} of ${ofFiles} files, ${sizeInWords(bytes)} of ${sizeInWords(ofBytes)}`;

/** Snake case, like all output of the program. */
const asJson = ({ sound, soundBytes, problems, withoutManifest, leftovers }: Verified) => ({
  sound,
  sound_bytes: soundBytes,
  problems,
  without_manifest: withoutManifest,
  leftovers,
});

/** Others may write into a storage, so a name is printed on one line, without control characters. */
const shown = (text: string) => toShownText(text, Infinity);

function report({ problems, withoutManifest, leftovers }: Verified): string[] {
  const block = (title: string, keys: readonly string[]) =>
    keys.length === 0 ? [] : [title, ...keys.map((key) => `  ${shown(key)}`)];
  return [
    ...problems.map(({ kind, key, reason }) => `${kind}: ${shown(key)}\n  ${shown(reason)}`),
    ...block(
      "Not checked, no manifest (of an earlier version, or their run isn't over):",
      withoutManifest,
    ),
    ...block("Left by runs that were cut off, unless they are running now:", leftovers),
  ];
}
