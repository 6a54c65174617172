// Puts the scheme that was chosen in the settings on the page before anything is painted: the dashboard itself comes
// too late for that. Other tabs follow. See src/app/shell/appearance.ts.
{
  const apply = () => {
    let chosen = null;
    try {
      chosen = localStorage.getItem("quarterdeck.scheme");
    } catch {
      // The browser forbids storage.
    }
    const isKnown = chosen === "light" || chosen === "dark";
    document.documentElement.style.colorScheme = isKnown ? chosen : "";
    for (const meta of document.querySelectorAll("meta[data-scheme]")) {
      const { scheme } = meta.dataset;
      const isChosen = scheme === chosen ? "all" : "not all";
      meta.media = isKnown ? isChosen : `(prefers-color-scheme: ${scheme})`;
    }
  };
  apply();
  addEventListener("storage", apply);
}
