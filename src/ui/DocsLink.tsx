import type { ReactNode } from "react";

type DocsLinkProps = {
  /** Of `docs/`; the build puts it beside the dashboard. */
  page: "backups" | "inventory" | "webhooks" | "workers";
  children: ReactNode;
};

/** Leads to more than a note can say, in a tab of its own: a form that is being filled in stays. */
export function DocsLink({ page, children }: DocsLinkProps) {
  return (
    <a
      href={`/docs/${page}.txt`}
      target="_blank"
      rel="noreferrer"
      className="inline-flex min-h-6 items-center text-sm underline decoration-edge underline-offset-4 hover:decoration-current"
    >
      {children}
    </a>
  );
}
