import { type ComponentProps, type MouseEvent, use } from "react";
import { createPath } from "react-router";
import { leadsToForm, useChangeRefusal } from "../commands/permission.ts";
import { entryIndex } from "./page-change.ts";
import { RouterContext } from "./router-context.ts";

export type LinkProps = Omit<ComponentProps<"a">, "href" | "target"> & {
  /** From the root on. */
  to: string;
  /** Whether Back is to pass over the page at hand. */
  replace?: boolean;
  /** Leads back to the page before instead, where there is one. */
  isBack?: boolean;
};

/** What opens a link elsewhere is the browser's. */
const opensElsewhere = (event: MouseEvent) =>
  event.button > 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;

/** A link within the dashboard. The router's own brings 3 kB of prefetching for servers that render. */
export function Link({
  to,
  replace = false,
  isBack = false,
  onClick,
  children,
  ...rest
}: LinkProps) {
  const router = use(RouterContext);
  const refusal = useChangeRefusal(leadsToForm(to));
  // Still a link that takes the focus, so that everyone can find out why it leads nowhere.
  const refused = refusal !== undefined && {
    role: "link",
    tabIndex: 0,
    "aria-disabled": true,
    "aria-description": refusal,
    "data-reason": refusal,
  };
  return (
    <a
      {...rest}
      {...refused}
      href={refused ? undefined : to}
      onClick={(event) => {
        if (refused) return;
        onClick?.(event);
        if (event.defaultPrevented || opensElsewhere(event)) return;
        event.preventDefault();
        if (isBack && entryIndex() > 0) return void router?.navigate(-1);
        // As a browser does: a link to where one is adds nothing to the way back.
        const isHere = router !== null && createPath(router.state.location) === to;
        void router?.navigate(to, { replace: replace || isBack || isHere });
      }}
    >
      {children}
    </a>
  );
}
