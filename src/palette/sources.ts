// All sources of the palette. To add one, write a hook of the type `Source`, and list it below.
import { useState } from "react";
import { useCurrentPlace } from "../app/place/current-place.ts";
import { currentCommands } from "../commands/current-commands.ts";
import { paths } from "../paths.ts";
import { recent } from "./choose.ts";
import { toEntries } from "./commands.ts";
import { type Asked, type Entry, type Found, type Source, toPage } from "./entry.ts";
import { holdsWords } from "./fold.ts";
import { globalEntries, placeActions } from "./global.ts";
import { hitEntries } from "./hits.ts";
import { idEntries, readIdText } from "./ids.ts";
import {
  byId,
  foundPlaces,
  namedPages,
  placeEntries,
  seenEntries,
  seenPlaces,
  seenThings,
  usePlaces,
} from "./places.ts";
import { useSearch } from "./search.ts";

const useRecent: Source = ({ text }) => ({ answers: text.trim() === "" ? recent.get() : [] });

/** Commands are read once, so that a page that changes behind the palette does not change its list. */
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

const useGlobal: Source = ({ text }) => {
  const [known] = useState(seenPlaces);
  const here = useCurrentPlace();
  return { offers: [...placeActions(here, known), ...globalEntries(text)] };
};

/** For a service without a search: what is cached, or can be requested. */
function useUnsearched({ text }: Asked, isNeeded: boolean): Found {
  const [seen] = useState(seenThings);
  const { places, isLoading } = usePlaces(isNeeded);
  if (!isNeeded) return {};
  const isThere = (kind: "site" | "server", id: number) =>
    !places.isWhole || places[`${kind}s`].some((place) => place.id === id);
  return {
    answers: idEntries(text, isThere, !places.isWhole),
    offers: [...placeEntries(places), ...seenEntries(seen, places.sites)],
    isLoading,
  };
}

/** Runs of backups have no names, so the search excludes them. */
const runEntries = (text: string): Entry[] =>
  idEntries(text, () => false).filter(({ key }) => key.startsWith("/backups/"));

type Searched = Found & { isSettled: boolean; hasFailed: boolean };

function useSearched(
  { text }: Asked,
  { results, isSettled, hasFailed }: ReturnType<typeof useSearch>,
): Searched {
  const [seen] = useState(seenPlaces);
  const hits = hitEntries(results?.data ?? [], readIdText(text));
  const found = foundPlaces();
  return {
    // Previous results stay while they also match the new text, so that the list does not flicker.
    answers: [...hits.filter((entry) => isSettled || holdsWords(entry, text)), ...runEntries(text)],
    offers: [
      toPage("server", "Overview", "Servers", paths.home()),
      toPage("activity", "Activity", "", paths.activity()),
      ...namedPages(text, {
        servers: byId([...found.servers, ...seen.servers]),
        sites: byId([...found.sites, ...seen.sites]),
      }),
    ],
    ...(isSettled && results !== null && { totals: results.counts }),
    isLoading: !isSettled,
    isSettled,
    hasFailed,
  };
}

export function useSources(
  asked: Asked,
): Required<Found> & Pick<Searched, "isSettled" | "hasFailed"> {
  const search = useSearch(asked.text);
  const searched = useSearched(asked, search);
  // Until that is known, the pages that every service has are listed.
  const hasSearch = search.isThere ?? true;
  const found = [
    useRecent(asked),
    useCommands(asked),
    ...(hasSearch ? [searched] : []),
    useUnsearched(asked, !hasSearch),
    useGlobal(asked),
    useGlobalCommands(asked),
  ];
  return {
    answers: found.flatMap(({ answers = [] }) => answers),
    offers: found.flatMap(({ offers = [] }) => offers),
    totals: searched.totals ?? {},
    isLoading: found.some(({ isLoading = false }) => isLoading),
    isSettled: searched.isSettled,
    hasFailed: searched.hasFailed,
  };
}
