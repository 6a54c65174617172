// A deployment, as the pipeline that made it reports it.
import * as z from "zod/mini";
import { id, line, storableText, timestamp } from "./values.ts";

const address = storableText().check(
  z.maxLength(2048),
  z.refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), {
    error: "The url field must be an http or https URL.",
  }),
);

const reported = {
  status: z.enum(["finished", "failed"]),
  commit: z.optional(line(255)),
  branch: z.optional(line(255)),
  author: z.optional(line(255)),
  /** The commit's message, or why the deployment failed. */
  message: z.optional(storableText().check(z.maxLength(5000))),
  /** Of the pipeline's run. */
  url: z.optional(address),
};

export const reportDeploymentBody = z
  .object({
    ...reported,
    /** Restart this site's workers once their jobs are done, so that they run the new code. */
    restart_workers: z.optional(z.boolean()),
  })
  .register(z.globalRegistry, { id: "ReportDeployment" });
export type ReportDeploymentBody = z.infer<typeof reportDeploymentBody>;

export const deployment = z
  .object({
    id,
    site_id: id,
    ...reported,
    created_at: timestamp,
    /** How many workers are being restarted. */
    restarted_workers: z.int(),
  })
  .register(z.globalRegistry, { id: "Deployment" });
