// Package tui is the terminal dashboard of a running daemon: six pages over
// the values of the admin socket, a command palette and a text snapshot of
// any page.
//
// It owns what is on the screen and nothing else. It knows the daemon only
// through the Backend interface, and the desk it stands on (editor, opener,
// clipboard, history file) only through the Desk interface; both are called
// from commands, never from Update or View. Update alone changes state; View
// only draws it. Text that comes from files passes through visible() before
// it is drawn, so no control character of a file name reaches the terminal.
package tui
