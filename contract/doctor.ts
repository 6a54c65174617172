// Results of `quarterdeck doctor` and of the same checks in the settings: a message, and what to do about it.
import * as z from "zod/mini";

/** `failed`: something does not work. `warning`: it works, but not for long or not as well as it could. */
export const diagnosisStates = ["ok", "warning", "failed"] as const;

export const diagnosis = z.object({
  /** What was checked, e.g. "Database"; several results may share a name. */
  name: z.string(),
  state: z.enum(diagnosisStates),
  message: z.string(),
  /** Null where nothing is to be done, or the message says what to do. */
  cure: z.nullable(z.string()),
});
export type Diagnosis = z.infer<typeof diagnosis>;

export const installationCheck = z
  .object({ results: z.array(diagnosis) })
  .register(z.globalRegistry, { id: "InstallationCheck" });
