import type { ReactNode } from "react";

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
  return (
    <header className="grid gap-1">
      <title>{[title, ...(context ?? []), "Quarterdeck"].join(" · ")}</title>
      <div className="min-h-5 text-sm text-muted">{crumbs}</div>
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
        {/* The shell moves the focus here when a new page comes. */}
        <h1 tabIndex={-1} className="text-xl font-semibold tracking-tight">
          {title}
        </h1>
        {state}
        <div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>
      </div>
    </header>
  );
}
