import type { ReactNode } from "react";
import { useStore } from "../../store.ts";
import { titleFailures } from "./title-failures.ts";

type PageHeaderProps = {
  title: string;
  /** Further parts of the browser's title after the page's own, from near to far. */
  context?: readonly string[];
  /** Breadcrumb links. */
  crumbs?: ReactNode;
  /** Next to the title: the state of the object. */
  state?: ReactNode;
  actions?: ReactNode;
};

export function PageHeader({ title, context, crumbs, state, actions }: PageHeaderProps) {
  const failures = useStore(titleFailures);
  const tabTitle = [title, ...(context ?? []), "Quarterdeck"].join(" · ");
  return (
    <header className="grid gap-1">
      <title>{failures > 0 ? `(${failures}) ${tabTitle}` : tabTitle}</title>
      {/* Has its height without breadcrumbs, too, so that the title stays in place between pages. */}
      <div className="min-h-6 text-sm text-muted">{crumbs}</div>
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
        {/* Grows, so that the actions are at the end of a shared line, or at the start of their own. */}
        <div className="flex min-h-8 grow flex-wrap items-center gap-x-3 gap-y-2">
          {/* The shell moves the focus here on a new page. */}
          <h1 tabIndex={-1} className="text-xl font-semibold tracking-tight wrap-anywhere">
            {title}
          </h1>
          {state}
        </div>
        {actions !== undefined && (
          <div className="flex flex-wrap items-center gap-2 max-sm:gap-1.5">{actions}</div>
        )}
      </div>
    </header>
  );
}
