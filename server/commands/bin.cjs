#!/usr/bin/env node
// The package's program: says so where Node is too old for the rest, which such a Node could not even read.
"use strict";

var problem = require("./node-version.cjs").nodeProblem(process.version);
if (problem === null) {
  // Without a command it is the service. Its own file, so that it loads nothing of the other commands.
  var isStart =
    process.argv.length === 2 || (process.argv.length === 3 && process.argv[2] === "start");
  void import(isStart ? "./start.ts" : "./quarterdeck.ts");
} else {
  process.stderr.write(problem + "\n");
  process.exitCode = 1;
}
