console.log("postinstall pending");
