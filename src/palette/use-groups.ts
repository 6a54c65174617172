import { useMemo, useState } from "react";
import { arrange } from "./arrange.ts";
import { pageCommands } from "./commands.ts";
import { placeEntries, seenEntries } from "./destinations.ts";
import { idEntries } from "./ids.ts";
import { seenThings, usePlaces } from "./places.ts";
import { recent } from "./recent.ts";

/** What there is to choose from. The page is read once: one that moves behind it must not move the list. */
export function useGroups(text: string, from: Element | null) {
  const [page] = useState(() => ({ commands: pageCommands(from), seen: seenThings() }));
  const { places, isLoading } = usePlaces();
  const destinations = useMemo(
    () => [...placeEntries(places), ...seenEntries(page.seen, places.sites)],
    [places, page],
  );
  const groups = useMemo(() => {
    const isThere = (kind: "site" | "server", id: number) =>
      !places.isWhole || places[`${kind}s`].some((place) => place.id === id);
    return arrange(text, {
      commands: page.commands,
      destinations,
      recent: recent.get(),
      ids: idEntries(text, isThere),
    });
  }, [text, page, places, destinations]);
  return { groups, isWhole: places.isWhole, isLoading };
}
