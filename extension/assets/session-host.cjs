// Runs the session host: the process that owns a recording, so that it outlives the command that started it.
//
// Raycast ends a command when its window closes. The host is therefore started as a process of its own, on Raycast's
// Node, from the bundle of Quick Record that Raycast has built and installed: there is no second build and no opaque
// program. That bundle asks for `@raycast/api` and React when it is loaded, which only exist inside Raycast and are not
// used by the host; they are replaced by empty stand-ins here.
const Module = require("node:module");
const path = require("node:path");

const onlyInRaycast = /^(@raycast\/api|react|react\/jsx-runtime)$/;
const nothing = new Proxy(function () {}, { get: (target, key) => (key === "prototype" ? target.prototype : nothing) });
const load = Module._load;
Module._load = function (request, ...rest) {
  return onlyInRaycast.test(request) ? nothing : load.call(this, request, ...rest);
};

require(path.join(__dirname, "..", "quick-record.js")).runHost();
