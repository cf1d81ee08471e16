// Package action implements the built-in job types: http sends a request, sql and
// call execute statements and procedures in databases, exec is declared and refused,
// and rota.TypeWebhook delivers events to webhooks.
//
// The URL of a request is untrusted input, so every request passes a [Guard]. The
// guard resolves a name once, checks every address of the answer, and connects to
// these addresses only. It refuses addresses of internal networks unless an [Allow]
// names them.
//
// Statements run on a [Target], in a transaction that also writes a row of the table
// rota_effects. The row makes the execution exactly-once: it exists if and only if
// the statements were committed, and an attempt that finds it does nothing.
//
// [Sign] and [Verify] create and check the signature of a webhook delivery. Verify
// is for receivers written in Go.
package action
