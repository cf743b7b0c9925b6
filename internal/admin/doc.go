// Package admin is the owner's HTTP/JSON API: status, knowledge bases,
// documents, the queue, search, an event stream and metrics, over any
// net.Listener, with the values of package wire. It also owns the daemon's
// recent log lines and the hub that hands events to streams.
//
// It decides nothing about indexing: it speaks for the services that are
// handed in (Services), whose interfaces stand here with their consumer.
package admin
