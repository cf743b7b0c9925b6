// Package config is the daemon's settings: defaults, then the TOML file, then
// the environment, then flags. One table (keys.go) holds each setting's names,
// default, allowed range and meaning; reading, checking, `ragd config` and the
// reference in the docs all follow it. The package also edits the file where
// `ragd add` and `ragd remove` ask for it, keeping every comment.
//
// It reads settings and makes the folders they name; it starts nothing, and it
// never looks for a settings file in a watched folder or the working folder.
package config
