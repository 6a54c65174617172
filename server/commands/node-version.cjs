// Whether a Node can run Quarterdeck. For whatever Node there is: nothing that one of ten years ago could not read.
"use strict";

var oldest = 24;

/**
 * @param {string} version as of process.version
 * @returns {string | null} the sentence for the operator; null = the version will do
 */
exports.nodeProblem = function nodeProblem(version) {
  if (parseInt(version.slice(1), 10) >= oldest) return null;
  return (
    "Quarterdeck needs Node " +
    oldest +
    " or newer; this is " +
    version +
    ". Install a newer version from https://nodejs.org and run the same command again."
  );
};
