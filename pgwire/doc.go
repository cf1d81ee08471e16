// Package pgwire is the PostgreSQL face of Rota: version 3 of its wire protocol over
// the SQL console, so that psql, drivers and tools connect as they are.
//
// A connection passes, in this order: the greeting, where it may ask for TLS or be
// a request to cancel; the proof of a password by SCRAM; and the conversation. In
// it one goroutine reads ahead, so that a client who hangs up is noticed while a
// statement runs, and another answers, message after message.
//
// Messages are encoded and decoded by pgproto3. They are framed here, since
// pgproto3's Backend reuses the memory of a message for the next one and cannot
// read ahead, and reads on beyond a request for TLS.
//
// What is right in SQL is decided by the console. This package knows what values
// look like on the wire, which statements and portals a client has named, and what
// a stranger may cost.
package pgwire
