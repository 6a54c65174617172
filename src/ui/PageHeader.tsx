import type { ReactNode } from "react";
import { useStore } from "../store.ts";
import { titleFailures } from "./title-failures.ts";

type PageHeaderProps = {
  title: string;
  /** What comes after the page's own title in the browser's tab, from near to far. */
  context?: readonly string[];
  /** The way here, as links. */
  crumbs?: ReactNode;
  /** Beside the title: the state of the thing. */
  state?: ReactNode;
  actions?: ReactNode;
};

export function PageHeader({ title, context, crumbs, state, actions }: PageHeaderProps) {
  const failures = useStore(titleFailures);
  const tabTitle = [title, ...(context ?? []), "Quarterdeck"].join(" · ");
  return (
    <header className="grid gap-1">
      <title>{failures > 0 ? `(${failures}) ${tabTitle}` : tabTitle}</title>
      {/* As high without crumbs, so that the title does not jump from page to page. */}
      <div className="min-h-6 text-sm text-muted">{crumbs}</div>
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
        {/* Grows, so that the actions end the line that they share with it and begin one of their own. */}
        <div className="flex min-h-8 grow flex-wrap items-center gap-x-3 gap-y-2">
          {/* The shell moves the focus here when a new page comes. */}
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
