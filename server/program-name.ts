// What an operator types to start the service or a command of it: the package's program, or the scripts of a clone.
const isPackage = import.meta.filename.endsWith(".js");

export const startLine = isPackage ? "npx quarterdeck" : "npm start";

export const commandLine = (command: string): string =>
  isPackage ? `npx quarterdeck ${command}` : `npm run quarterdeck -- ${command}`;
