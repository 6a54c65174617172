// What lies over the pages and is not needed to show one: it is loaded once the first page stands.
import { TooltipHost } from "../ui/TooltipHost.tsx";
import { Announcer } from "./Announcer.tsx";
import { ConfirmHost } from "./ConfirmHost.tsx";
import { PaletteHost } from "./palette/PaletteHost.tsx";
import { ToastHost } from "./ToastHost.tsx";

export function Overlays() {
  return (
    <>
      <ToastHost />
      <ConfirmHost />
      <PaletteHost />
      <TooltipHost />
      <Announcer />
    </>
  );
}
