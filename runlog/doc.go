// Package runlog stores what runs write: the lines of engine.Log and engine.Output, and the logs that
// remote workers send.
//
// Dir keeps each log in a file. It suits a program that uses a store alone:
//
//	engine.New(client, registry, engine.Config{Logs: runlog.Dir("/var/lib/app/logs", runlog.Config{})})
//
// Store keeps logs in a store that several processes share, so that each of them can read every log:
//
//	engine.New(client, registry, engine.Config{Logs: runlog.Store(store, runlog.Config{}), Membership: store})
//
// Both limit the size of a log and remove old logs; the engine calls them for that. Both accept every
// line: text that cannot be stored is lost, and a line in its place states how much.
package runlog
