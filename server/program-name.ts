// How to start the service, or a command of it, for messages: with the package's program, or with the scripts of a clone.
const isPackage = import.meta.filename.endsWith(".js");

export const startLine = isPackage ? "npx quarterdeck" : "npm start";

export const commandLine = (command: string): string =>
  isPackage ? `npx quarterdeck ${command}` : `npm run quarterdeck -- ${command}`;
