// Package verify checks the rows of a store: what must hold for every row
// and between rows, whatever commands were applied. rota verify runs it. A store
// streams its rows into a [Verifier]; start reading there.
package verify
