import { type ComponentType, type FunctionComponent, lazy } from "react";
import { whenReachable } from "./outage.ts";

/**
 * A part that is loaded once its page stands. What it cannot do without the page does: an error would take the page away,
 * and with it what was typed and selected. While the service is away it comes later.
 * @param Missing stands in its place where it does not come; nothing by default
 */
export const optionalPart = <Props>(
  load: () => Promise<ComponentType<Props>>,
  Missing: FunctionComponent = () => null,
) =>
  lazy(async (): Promise<{ default: ComponentType<Props> | FunctionComponent }> => {
    const part = await load()
      .catch(async (error: unknown) => {
        if (await whenReachable()) return load();
        throw error;
      })
      .catch(() => Missing);
    return { default: part };
  });
