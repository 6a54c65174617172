import { type ComponentType, type FunctionComponent, lazy } from "react";
import { whenReachable } from "../shell/outage.ts";

/**
 * Returns a component that is loaded after its page. If that fails, the page stays with its input and selection, which
 * an error page would discard. While the service is unreachable, loading waits.
 * @param Missing shown where loading fails; by default nothing
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
