// Runs from index.html before all other code, as a script that the service's content security policy allows by its
// hash: applies the chosen scheme, takes the link out of the address, and shows the frame of the page.
import { firstSession, takeLink } from "./api/kept-session.ts";
import "../public/scheme.js";

const link = takeLink();
globalThis.signInLink = link;
if (firstSession(link) !== null && location.pathname !== "/connect")
  document.documentElement.dataset["connected"] = "";
