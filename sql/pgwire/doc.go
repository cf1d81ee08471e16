// Package pgwire serves Rota's SQL console with version 3 of the PostgreSQL wire protocol, so
// that psql, drivers and tools connect unchanged.
//
// A connection has three phases: startup, in which the client may request TLS or cancel a
// statement of another connection; authentication with SCRAM; and the messages of the session.
// In the third phase one goroutine reads messages ahead, so that the server notices a
// disconnect while a statement runs, and another goroutine answers them in order.
//
// The package pgproto3 encodes and decodes messages. This package frames them itself: the
// Backend of pgproto3 reuses the memory of a message for the next one, so it cannot read ahead,
// and it reads past a request for TLS.
//
// The console decides what SQL means. This package encodes values, keeps the prepared
// statements and portals of a client, and limits the resources that a client can use. Start
// reading at server.go, conn.go and message_loop.go.
package pgwire
