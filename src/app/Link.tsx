import type { ComponentProps } from "react";
import { useHref, useLinkClickHandler } from "react-router";
import { leadsToForm, useChangeRefusal } from "../commands/permission.ts";

export type LinkProps = Omit<ComponentProps<"a">, "href"> & { to: string };

/** A link within the dashboard. The router's own brings 3 kB of prefetching for servers that render. */
export function Link({ to, onClick, children, ...rest }: LinkProps) {
  const href = useHref(to);
  const follow = useLinkClickHandler(to);
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
      href={refused ? undefined : href}
      onClick={(event) => {
        if (refused) return;
        onClick?.(event);
        if (!event.defaultPrevented) follow(event);
      }}
    >
      {children}
    </a>
  );
}
