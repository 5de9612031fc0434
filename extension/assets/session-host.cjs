// Runs the session host: the process that owns a recording from its start to its end (src/host).
//
// Raycast ends a command when its window closes, so the process that owns a recording is one of its own. It runs on
// Raycast's Node, from the bundle of Quick Record that Raycast has built and installed: there is no second build and no
// opaque program. That bundle asks for `@raycast/api` and React when it is loaded; they only exist inside Raycast and are
// not used here, so empty stand-ins take their place.
const Module = require("node:module");
const path = require("node:path");

const onlyInRaycast = /^(@raycast\/api|react|react\/jsx-runtime)$/;
const nothing = new Proxy(function () {}, { get: (target, key) => (key === "prototype" ? target.prototype : nothing) });
const load = Module._load;
Module._load = function (request, ...rest) {
  return onlyInRaycast.test(request) ? nothing : load.call(this, request, ...rest);
};

require(path.join(__dirname, "..", "quick-record.js")).runHost();
