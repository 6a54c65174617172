import type { ReactNode } from "react";
import { linkClass } from "./link-class.ts";

type DocsLinkProps = {
  /** Page of the help. */
  page: "backups" | "inventory" | "webhooks" | "workers";
  children: ReactNode;
};

/** Links to the help in a new tab, so that a form stays open. */
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
