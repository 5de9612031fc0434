import { runStandIn } from "./stand-in-program";

void runStandIn(process.argv.slice(2));
