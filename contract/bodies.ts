import * as z from "zod/mini";
import { deploymentStates } from "./deployments.ts";
import { abilities } from "./tokens.ts";
import { givenName, line, moment, ownId, storableText } from "./inputs.ts";

export const createTokenBody = z
  .object({
    name: givenName(100),
    abilities: z.array(z.enum(abilities)).check(z.minLength(1), z.maxLength(abilities.length)),
    server_ids: z.optional(z.nullable(z.array(ownId).check(z.minLength(1), z.maxLength(1000)))),
    /** By default, the expiry of the token that creates it, if it has one. */
    expires_at: z.optional(z.nullable(moment)),
  })
  .register(z.globalRegistry, { id: "CreateToken" });
export type CreateTokenBody = z.infer<typeof createTokenBody>;

export const signInBody = z
  .object({ code: line(200) })
  .register(z.globalRegistry, { id: "SignIn" });

const address = storableText().check(
  z.maxLength(2048),
  z.refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), {
    error: "The url field must be an http or https URL.",
  }),
);

export const reportDeploymentBody = z
  .object({
    status: z.enum(deploymentStates),
    commit: z.optional(line(255)),
    branch: z.optional(line(255)),
    author: z.optional(line(255)),
    /** The commit's message, or why the deployment failed. */
    message: z.optional(storableText().check(z.maxLength(5000))),
    /** URL of the pipeline's run. */
    url: z.optional(address),
    /** Restart this site's workers once their jobs are done, so that they run the new code. */
    restart_workers: z.optional(z.boolean()),
  })
  .register(z.globalRegistry, { id: "ReportDeployment" });
export type ReportDeploymentBody = z.infer<typeof reportDeploymentBody>;
