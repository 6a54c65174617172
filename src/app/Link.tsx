import { type ComponentProps, type MouseEvent, use } from "react";
import { createPath } from "react-router";
import { leadsToForm, useChangeRefusal } from "../commands/permission.ts";
import { entryIndex } from "./routing/page-change.ts";
import { RouterContext } from "./routing/router-context.ts";

export type LinkProps = Omit<ComponentProps<"a">, "href" | "target"> & {
  /** Absolute path. */
  to: string;
  /** Whether the current page is replaced in the history. */
  replace?: boolean;
  /** Whether to go back in the history instead, where there is an earlier entry. */
  isBack?: boolean;
};

/** Clicks that the browser handles, such as opening a new tab. */
const opensElsewhere = (event: MouseEvent) =>
  event.button > 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;

/** A link within the dashboard. The router's own adds 3 kB for prefetching with server rendering. */
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
  // Remains a focusable link, so that everyone can find out why it is disabled.
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
        // Like a browser: a link to the current page adds no entry to the history.
        const isHere = router !== null && createPath(router.state.location) === to;
        void router?.navigate(to, { replace: replace || isBack || isHere });
      }}
    >
      {children}
    </a>
  );
}
