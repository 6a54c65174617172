import type { ReactNode } from "react";

type DocsLinkProps = {
  /** Of the help. */
  page: "backups" | "inventory" | "webhooks" | "workers";
  children: ReactNode;
};

/** Leads to more than a note can say, in a tab of its own: a form that is being filled in stays. */
export function DocsLink({ page, children }: DocsLinkProps) {
  return (
    <a
      href={`/help/${page}`}
      target="_blank"
      rel="noreferrer"
      className="inline-flex min-h-6 items-center text-sm underline decoration-edge underline-offset-4 hover:decoration-current"
    >
      {children}
    </a>
  );
}
