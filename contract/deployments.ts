// A deployment, as the pipeline that made it reports it.
import * as z from "zod/mini";
import { id, timestamp } from "./values.ts";

export const deploymentStates = ["finished", "failed"] as const;

export const deployment = z
  .object({
    id,
    site_id: id,
    status: z.enum(deploymentStates),
    commit: z.optional(z.string()),
    branch: z.optional(z.string()),
    author: z.optional(z.string()),
    /** The commit's message, or why the deployment failed. */
    message: z.optional(z.string()),
    /** URL of the pipeline's run. */
    url: z.optional(z.string()),
    created_at: timestamp,
    /** Number of workers that are being restarted. */
    restarted_workers: z.int(),
  })
  .register(z.globalRegistry, { id: "Deployment" });
