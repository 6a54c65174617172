// What `quarterdeck doctor` and the settings find: each check with its result in words, and what to do about it.
import * as z from "zod/mini";

/** `failed`: something does not work. `warning`: it works, and will not for long or not as it could. */
export const diagnosisStates = ["ok", "warning", "failed"] as const;

export const diagnosis = z.object({
  /** What was checked, e.g. "Database"; several results may have the same name. */
  name: z.string(),
  state: z.enum(diagnosisStates),
  message: z.string(),
  /** Null where nothing is to be done, or the message says it. */
  cure: z.nullable(z.string()),
});
export type Diagnosis = z.infer<typeof diagnosis>;

export const installationCheck = z
  .object({ results: z.array(diagnosis) })
  .register(z.globalRegistry, { id: "InstallationCheck" });
