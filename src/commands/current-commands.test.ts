import { afterEach, expect, test } from "vitest";
import { currentCommands } from "./current-commands.ts";
import { registered } from "./registry.ts";

const following = 4;

type Facts = { place?: number; isHidden?: boolean };

/** Fakes an element with its position in the document and its visibility. */
const element = ({ place = 0, isHidden = false }: Facts) => ({
  place,
  checkVisibility: () => !isHidden,
  DOCUMENT_POSITION_FOLLOWING: following,
  compareDocumentPosition: (other: { place: number }) => (other.place > place ? following : 0),
});

function register(label: string, facts: Facts | null) {
  // Node has no DOM; this object has the methods that are called.
  const place = facts && { element: element(facts) as unknown as HTMLElement };
  registered.add({ label, run: () => {}, ...place });
}

const labels = () => currentCommands().map(({ label }) => label);

afterEach(() => registered.clear());

test("lists commands in the order of the page, whenever they were registered, and those without a button last", () => {
  register("Reload", null);
  register("Restart worker 2", { place: 3 });
  register("New worker", { place: 1 });
  register("Restart worker 1", { place: 2 });
  expect(labels()).toEqual(["New worker", "Restart worker 1", "Restart worker 2", "Reload"]);
});

test("omits commands whose buttons are not visible", () => {
  register("New worker", { place: 1 });
  register("Stop worker 1", { place: 2, isHidden: true });
  expect(labels()).toEqual(["New worker"]);
});
