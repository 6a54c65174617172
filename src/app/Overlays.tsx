// What lies over the pages and is not needed to show one: it is loaded once the first page stands.
import { useStore } from "../store.ts";
import { TooltipHost } from "../ui/TooltipHost.tsx";
import { Announcer } from "./Announcer.tsx";
import { BulkHost } from "../bulk/BulkHost.tsx";
import { ConfirmHost } from "./ConfirmHost.tsx";
import { KeysHost } from "../shortcuts/KeysHost.tsx";
import { singleKeys } from "../shortcuts/keys.ts";
import { PaletteHost } from "../palette/PaletteHost.tsx";
import { ToastHost } from "./ToastHost.tsx";

export function Overlays() {
  return (
    <>
      <ToastHost />
      <ConfirmHost />
      <PaletteHost />
      <BulkHost />
      <KeysHost />
      <TooltipHost hasKeys={useStore(singleKeys)} />
      <Announcer />
    </>
  );
}
