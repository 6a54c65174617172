// Results of `quarterdeck doctor` and of the check in the settings, each with what to do.
import * as z from "zod/mini";

/** `failed`: something does not work. `warning`: it works, but may stop or could work better. */
export const diagnosisStates = ["ok", "warning", "failed"] as const;

export const diagnosis = z.object({
  /** What was checked, e.g. "Database". Several results may have the same name. */
  name: z.string(),
  state: z.enum(diagnosisStates),
  message: z.string(),
  /** Null where there is nothing to do, or the message says it. */
  cure: z.nullable(z.string()),
});
export type Diagnosis = z.infer<typeof diagnosis>;

export const installationCheck = z
  .object({ results: z.array(diagnosis) })
  .register(z.globalRegistry, { id: "InstallationCheck" });
