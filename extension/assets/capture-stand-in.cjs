// Captures a WAV file in place of the microphone, for Transcribe Audio File (src/capture/stand-in-program.ts).
require("./load-bundle.cjs").runStandIn(process.argv.slice(2));
