// What lies over the pages and is not needed to show one: it is loaded once the first page stands.
import { useEffect } from "react";
import { queryClient } from "../api/query.ts";
import { useStore } from "../store.ts";
import { TooltipHost } from "../ui/TooltipHost.tsx";
import { announceChanges, announcement } from "./announcements.ts";
import { BulkHost } from "../bulk/BulkHost.tsx";
import { ConfirmHost } from "./ConfirmHost.tsx";
import { FailureMark } from "./FailureMark.tsx";
import { KeysHost } from "../shortcuts/KeysHost.tsx";
import { singleKeys } from "../shortcuts/keys.ts";
import { PaletteHost } from "../palette/PaletteHost.tsx";
import { ServiceState } from "./ServiceState.tsx";
import { ToastHost } from "./ToastHost.tsx";
import { watchPermission } from "./watch-permission.ts";

/** Rendered once; see `announceChanges`. */
function Announcer() {
  const { number, text } = useStore(announcement);
  useEffect(() => announceChanges(queryClient), []);
  return (
    <div role="log" aria-label="Changes" className="sr-only">
      <p key={number}>{text}</p>
    </div>
  );
}

export function Overlays() {
  useEffect(watchPermission, []);
  return (
    <>
      <ServiceState />
      <ToastHost />
      <ConfirmHost />
      <PaletteHost />
      <BulkHost />
      <KeysHost />
      <TooltipHost hasKeys={useStore(singleKeys)} />
      <Announcer />
      <FailureMark />
    </>
  );
}
