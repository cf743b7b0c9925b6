// Package blackbox tests and measures the built programs as a user meets
// them: real files, the MCP socket and the bridge, the admin socket, the
// command line, real signals. It owns no code that ships; every test is named
// after the promise it holds ragd to.
package blackbox
