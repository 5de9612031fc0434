// The session host: owns one recording from its start to its end (src/host).
require("./load-bundle.cjs").runHost();
