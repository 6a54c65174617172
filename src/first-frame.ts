// Runs from index.html before anything else is there, as a small script of its own that the service's policy names by its
// hash: applies the chosen scheme, takes the link out of the address, and lets the frame of the page show.
import { firstSession, takeLink } from "./api/kept-session.ts";
import "../public/scheme.js";

const link = takeLink();
globalThis.signInLink = link;
if (firstSession(link) !== null && location.pathname !== "/connect")
  document.documentElement.dataset["connected"] = "";
