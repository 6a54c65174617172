import type { Site } from "../../contract/servers.ts";
import { Notice } from "../ui/feedback/Notice.tsx";

/**
 * Shows why nothing can run for a site yet. Renders nothing where the site has an account, or the service does not say.
 */
export function AccountNotice({ site }: { site: Site | null | undefined }) {
  const problem = site?.account_problem;
  if (!problem) return null;
  return <Notice tone="warn">{problem}</Notice>;
}
