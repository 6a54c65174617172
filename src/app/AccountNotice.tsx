import type { Site } from "../../contract/servers.ts";
import { Notice } from "../ui/Notice.tsx";

/** Why nothing can run for a site yet. Nothing where it has an account, or its service does not say. */
export function AccountNotice({ site }: { site: Site | null | undefined }) {
  const problem = site?.account_problem;
  if (!problem) return null;
  return <Notice tone="warn">{problem}</Notice>;
}
