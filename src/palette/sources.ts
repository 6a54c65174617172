// Everything that the palette finds, source by source. A further one is a hook of the type `Source` and its line below.
import { useState } from "react";
import { currentCommands } from "../commands/current-commands.ts";
import { recent } from "./choose.ts";
import { toEntries } from "./commands.ts";
import type { Asked, Found, Source } from "./entry.ts";
import { idEntries } from "./ids.ts";
import { placeEntries, seenEntries, seenThings, usePlaces } from "./places.ts";

const useRecent: Source = ({ text }) => ({ answers: text.trim() === "" ? recent.get() : [] });

const useIds: Source = ({ text }) => {
  const { places } = usePlaces();
  const isThere = (kind: "site" | "server", id: number) =>
    !places.isWhole || places[`${kind}s`].some((place) => place.id === id);
  return { answers: idEntries(text, isThere, !places.isWhole) };
};

/** Commands are read once: a page that moves behind the palette must not move its list. */
const commandsOf =
  (isOfPage: boolean): Source =>
  ({ from }) => {
    const [offers] = useState(() =>
      toEntries(
        currentCommands().filter(({ element }) => (element !== undefined) === isOfPage),
        from,
      ),
    );
    return { offers };
  };
const useCommands = commandsOf(true);
const useGlobalCommands = commandsOf(false);

const usePages: Source = () => {
  const [seen] = useState(seenThings);
  const { places, isLoading } = usePlaces();
  return { offers: [...placeEntries(places), ...seenEntries(seen, places.sites)], isLoading };
};

export function useSources(asked: Asked): Required<Found> {
  const found = [
    useRecent(asked),
    useIds(asked),
    useCommands(asked),
    usePages(asked),
    useGlobalCommands(asked),
  ];
  return {
    answers: found.flatMap(({ answers = [] }) => answers),
    offers: found.flatMap(({ offers = [] }) => offers),
    isLoading: found.some(({ isLoading = false }) => isLoading),
  };
}
