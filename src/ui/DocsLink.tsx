import type { ReactNode } from "react";
import { linkClass } from "./link-class.ts";

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
      className={`inline-flex min-h-6 items-center text-sm ${linkClass}`}
    >
      {children}
    </a>
  );
}
